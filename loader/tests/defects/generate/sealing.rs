//! What sealed commands may use.

use evalsuite_schema::diagnostics::Code;
use evalsuite_schema::{Network, SealMode};

use super::Generator;
use crate::tree::{Node, boolean, choice, integer, keys, list, text};

impl Generator {
    /// Adds keys of a sealed command to a code grader or a hook.
    pub(super) fn sealing(&mut self, mut node: Node) -> Node {
        if self.has() {
            node = node.put("sealed", choice("auto", SealMode::WORDS));
        }
        if self.has() {
            let network = match self.choices.pick("network", 2) {
                0 => choice("none", Network::WORDS),
                _ => keys("`network`").need(
                    Code::MissingKey,
                    "ports",
                    list([443, 8080].map(|port| integer(port, 1, 65_535))).tag("ports"),
                ),
            };
            node = node.put("network", network);
        }
        if self.has() {
            node = node.put("unix_sockets", boolean(true));
        }
        for key in ["read", "write"] {
            if self.has() {
                let in_suite = self.shared_directory("scripts");
                let in_suite = in_suite.text().unwrap_or_default().to_owned();
                // Those outside of the package are looked for when the command runs.
                let paths = [in_suite.as_str(), "~", "~/.config/agent", "/srv/data"];
                node = node.put(key, list(paths.map(|path| text(path).literal().tag("opened path"))));
            }
        }
        node
    }
}
