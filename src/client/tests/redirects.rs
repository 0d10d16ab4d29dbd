//! Redirects: client-go follows those of the API server, and sends the token to whatever host they name. This client follows none.

use super::secure::Authority;
use super::server::{Server, answer, ok};
use super::*;
use reconcile_core::object::Projection;

const STATUSES: [&str; 5] =
    ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"];

#[tokio::test]
async fn no_request_and_no_watch_follows_a_redirect() {
    let authority = Authority::new();
    let other = Server::start_tls(authority.server("127.0.0.1", false), |_, _| ok()).await;
    let plain = Server::start(|_, _| ok()).await;
    for status in STATUSES {
        for location in [
            format!("https://{}/api", other.address()),
            format!("//{}/api", other.address()),
            format!("http://{}/api", plain.address()),
            // The same server, and the same request: a loop.
            "/elsewhere".to_owned(),
            "/api/v1/pods".to_owned(),
            String::new(),
        ] {
            let header = format!("location: {location}");
            let redirect = move |_: usize, _: &_| answer(status, &[&header, "retry-after: 0"], "");
            let server = Server::start_tls(authority.server("127.0.0.1", false), redirect).await;
            let options = ConnectOptions { token: Some("good".into()), ..authority.trusted(&server) };
            let cluster = connect(&options, &Environment::default()).await.unwrap();
            let requests: [Request; 3] =
                [Request::get("/api/v1/pods"), Request::list("/api/v1/pods"), write("/api/v1/pods").into()];
            for request in requests {
                let error = cluster.send(request).await.unwrap_err().in_full();
                assert!(error.starts_with(&format!("the server answered {status}")), "{location}: {error}");
            }
            let watch = cluster.watch(Address::from("/api/v1/pods").with("watch", "true"), Projection::Whole).await;
            assert!(watch.is_err_and(|error| error.in_full().starts_with(&format!("the server answered {status}"))));
            let seen = server.seen();
            assert_eq!(seen.len(), 4, "each request is sent once");
            assert!(seen.iter().all(|seen| seen.header("authorization") == ["Bearer good"]));
        }
    }
    assert_eq!((other.lines(), plain.lines()), (Vec::<String>::new(), Vec::new()));
}
