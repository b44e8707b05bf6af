//! Who called whom: a tree of calls with the T-states of each, seen from the stack pointer alone.

/// A call tree. The first node is whoever called nobody known.
#[derive(Debug, Clone)]
pub struct Calls {
    nodes: Vec<Node>,
    /// The calls that are open, the innermost last: the node, and the stack pointer inside.
    open: Vec<(usize, u16)>,
}

/// All calls of a routine by the same chain of callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The routine's address; that of the first node means nothing.
    pub routine: u16,
    /// How often it was called.
    pub calls: u64,
    /// T-states in it, those of its callees left out.
    pub own: u64,
    /// The nodes of its callees, in the order of their first calls.
    pub callees: Vec<usize>,
}

impl Default for Calls {
    fn default() -> Self {
        let root = Node { routine: 0, calls: 1, own: 0, callees: Vec::new() };
        Self { nodes: vec![root], open: Vec::new() }
    }
}

impl Calls {
    /// The node of a number; 0 is the first one.
    #[must_use]
    pub fn node(&self, number: usize) -> &Node {
        &self.nodes[number]
    }

    /// All nodes.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// T-states of a node and all below it.
    #[must_use]
    pub fn total(&self, number: usize) -> u64 {
        let node = &self.nodes[number];
        node.own + node.callees.iter().map(|callee| self.total(*callee)).sum::<u64>()
    }

    /// A routine was entered; the stack pointer is that after its return address was pushed.
    pub(super) fn enter(&mut self, routine: u16, sp: u16) {
        let caller = self.current();
        let known =
            self.nodes[caller].callees.iter().find(|at| self.nodes[**at].routine == routine);
        let node = known.copied().unwrap_or_else(|| {
            self.nodes.push(Node { routine, calls: 0, own: 0, callees: Vec::new() });
            let new = self.nodes.len() - 1;
            self.nodes[caller].callees.push(new);
            new
        });
        self.nodes[node].calls += 1;
        self.open.push((node, sp));
    }

    /// Closes the calls whose return address is gone from the stack.
    pub(super) fn leave_above(&mut self, sp: u16) {
        while self.open.pop_if(|(_, inside)| sp > *inside).is_some() {}
    }

    /// T-states passed.
    pub(super) fn spend(&mut self, t_states: u64) {
        let current = self.current();
        self.nodes[current].own += t_states;
    }

    fn current(&self) -> usize {
        self.open.last().map_or(0, |(node, _)| *node)
    }
}
