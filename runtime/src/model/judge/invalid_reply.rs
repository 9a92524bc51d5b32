//! The error for a reply that does not have the requested form.

use crate::platform::text_error::text_error;

text_error! {
    /// What is wrong with a reply. A judge that is asked to repair it is shown this text.
    InvalidReply
}
