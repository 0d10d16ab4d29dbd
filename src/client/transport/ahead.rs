//! Connections that are opened before a request needs them, because TCP and TLS take two round trips.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use http::Uri;
use tokio::task::JoinHandle;
use tower::Service;

/// The time for which a connection without a request is used. The API server closes one after 32 seconds (apiserver
/// `pkg/server/secure_serving.go`, `ReadHeaderTimeout`).
const FRESH: Duration = Duration::from_secs(10);

/// Opens this number of connections.
pub type OpenAhead = Arc<dyn Fn(usize) + Send + Sync>;

/// A connector that takes connections that were opened ahead, and else opens one. All of them lead to one server.
pub struct Ahead<C: Service<Uri>> {
    connector: C,
    opened: Arc<Mutex<Vec<Opening<C>>>>,
}

struct Opening<C: Service<Uri>> {
    since: Instant,
    connection: JoinHandle<Result<C::Response, C::Error>>,
}

/// One that no request has taken ends.
impl<C: Service<Uri>> Drop for Opening<C> {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl<C: Service<Uri> + Clone> Clone for Ahead<C> {
    fn clone(&self) -> Self {
        Self { connector: self.connector.clone(), opened: Arc::clone(&self.opened) }
    }
}

impl<C> Ahead<C>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Send + 'static,
    C::Error: Send + 'static,
    C::Future: Send + 'static,
{
    /// A connector that has opened nothing yet.
    pub fn new(connector: C) -> Self {
        Self { connector, opened: Arc::default() }
    }

    /// Opens connections to a server.
    pub fn opener(&self, server: Uri) -> OpenAhead {
        let ahead = self.clone();
        Arc::new(move |number| {
            let openings = std::iter::repeat_with(|| Opening {
                since: Instant::now(),
                connection: tokio::spawn(connect(ahead.connector.clone(), server.clone())),
            });
            ahead.opened.lock().unwrap_or_else(PoisonError::into_inner).extend(openings.take(number));
        })
    }

    /// The oldest connection that is under way or open, if the server has not closed it meanwhile.
    fn take(&self) -> Option<Opening<C>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|opening| opening.since.elapsed() < FRESH);
        (!opened.is_empty()).then(|| opened.remove(0))
    }
}

async fn connect<C: Service<Uri>>(mut connector: C, server: Uri) -> Result<C::Response, C::Error> {
    poll_fn(|context| connector.poll_ready(context)).await?;
    connector.call(server).await
}

impl<C> Service<Uri> for Ahead<C>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Send + 'static,
    C::Error: Send + 'static,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = C::Error;
    type Future = BoxFuture<'static, Result<C::Response, C::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let opening = self.take();
        let connector = self.connector.clone();
        Box::pin(async move {
            if let Some(mut opening) = opening
                && let Ok(connection) = (&mut opening.connection).await
            {
                return connection;
            }
            connect(connector, server).await
        })
    }
}
