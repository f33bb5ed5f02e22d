//! Nothing: the tests and benches beside this file are what the package is for.
