//! Estimators, written once and shared by engine and controllers.
