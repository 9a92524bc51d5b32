//! How files are laid out: nothing of it changes what they say.

use super::Generator;
use crate::project::{Data, File};
use crate::render::Syntax;
use crate::tree::{Before, Body, Node, Quote, Rule};

impl Generator {
    /// Adds a file to the suite, laid out at random.
    pub(super) fn add(&mut self, path: &str, mut root: Node, syntax: Syntax) {
        root.walk_mut(&mut |node| self.lay_out(node));
        root.style.flow = syntax == Syntax::Yaml && root.style.flow && self.choices.rarely("flow root");
        let mut data = Data::new(root, syntax);
        data.byte_order_mark = self.choices.rarely("byte order mark");
        data.crlf = self.choices.rarely("line ends");
        let path = self.project.inside(path);
        self.project.add(&path, File::Data(data));
    }

    fn lay_out(&mut self, node: &mut Node) {
        node.style.before = match self.choices.pick("before", 6) {
            4 => Before::Comment,
            5 => Before::BlankLine,
            _ => Before::Nothing,
        };
        node.style.flow = self.choices.pick("flow", 4) == 3;
        node.style.indentless = self.choices.pick("indentless", 3) == 2;
        node.style.quote = self.choices.one("quote", &[Quote::Plain, Quote::Double, Quote::Single, Quote::Block]);
        if let (Body::Map(entries), Rule::Keys(_)) = (&mut node.body, node.rule)
            && !entries.is_empty()
        {
            let count = self.choices.pick("order of keys", entries.len());
            entries.rotate_left(count);
        }
    }
}
