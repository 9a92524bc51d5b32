//! The error of a setting that cannot be used.

use crate::platform::text_error::text_error;

text_error! {
    /// What is wrong with environment variables, their file or options.
    SettingError
}
