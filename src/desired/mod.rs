//! Stage 1, read desired: finds and reads the files of `-f` and `-k`, also as they are in a revision of their git repository. [`reconcile_core::manifest`] reads their text.
//! `client` fetches URLs, as it knows TLS and proxies, and hands in their content.

mod child;
pub mod files;
mod git;
mod kustomization;
pub(crate) mod overlay;
pub(crate) mod since;
pub(crate) mod sops;
