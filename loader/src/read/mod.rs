//! Reading: bytes of a file in, a tree of [`Node`](crate::node::Node)s with places out.
