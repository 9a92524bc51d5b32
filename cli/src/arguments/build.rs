//! The options of cargo that choose what is built.

use clap::Args;

/// The options of cargo that choose what is built.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Build")]
pub(crate) struct Build {
    /// Package to test; may be repeated
    #[arg(short, long = "package", value_name = "SPEC")]
    pub(crate) packages: Vec<String>,
    /// Test all packages of the workspace
    #[arg(long)]
    pub(crate) workspace: bool,
    /// Test only the library
    #[arg(long)]
    pub(crate) lib: bool,
    /// Test only this test program; may be repeated
    #[arg(long = "test", value_name = "NAME")]
    pub(crate) tests: Vec<String>,
    /// Features to activate; may be repeated
    #[arg(short = 'F', long = "features", value_name = "FEATURES")]
    pub(crate) features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Do not activate the default features
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Build with optimizations
    #[arg(short, long)]
    pub(crate) release: bool,
    /// Build with this profile
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    pub(crate) profile: Option<String>,
}
