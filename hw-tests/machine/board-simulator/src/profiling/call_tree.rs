//! A tree of calls with their T-states, derived from the stack pointer and the routines' addresses.

/// The stack pointer of the root, which no return can pop.
const BOTTOM: u16 = u16::MAX;

/// A call tree. Node 0 is the root: code outside of any known routine.
#[derive(Debug, Clone)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    /// The open routines, innermost last.
    open: Vec<OpenFrame>,
}

/// A routine that was entered and has not returned. A routine entered by a jump or by falling
/// through returns together with the one before it, and has its stack pointer.
#[derive(Debug, Clone, Copy)]
struct OpenFrame {
    node: usize,
    /// The stack pointer after the return address was pushed; above it the routine has returned.
    return_sp: u16,
}

/// All entries of a routine by the same chain of routines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNode {
    /// The routine's address; meaningless for the root.
    pub routine: u16,
    /// The address of the instruction that entered it first.
    pub site: u16,
    /// How often it was entered at its beginning: by a call, a jump or falling through.
    pub calls: u64,
    /// T-states in the routine itself, without callees.
    pub own: u64,
    /// The nodes of the routines that it entered, in order of the first entry.
    pub callees: Vec<usize>,
}

impl Default for CallTree {
    fn default() -> Self {
        let root = CallNode { routine: 0, site: 0, calls: 1, own: 0, callees: Vec::new() };
        Self { nodes: vec![root], open: Vec::new() }
    }
}

impl CallTree {
    /// Returns a node; 0 is the root.
    ///
    /// # Panics
    /// Panics if there is no such node.
    pub fn node(&self, number: usize) -> &CallNode {
        &self.nodes[number]
    }

    /// Returns all nodes, the root first.
    pub fn iter(&self) -> impl Iterator<Item = &CallNode> {
        self.nodes.iter()
    }

    /// Returns the T-states of a node and its callees.
    pub fn total(&self, number: usize) -> u64 {
        let node = &self.nodes[number];
        node.own + node.callees.iter().map(|callee| self.total(*callee)).sum::<u64>()
    }

    /// Records a call; `sp` is the stack pointer after the return address was pushed.
    pub(crate) fn enter(&mut self, routine: u16, site: u16, sp: u16) {
        self.push(routine, site, sp);
    }

    /// Records that another routine was entered without a call, by a jump or by falling through. A
    /// routine that is open in the same call continues; a new one returns with its caller.
    pub(crate) fn continue_in(&mut self, routine: u16, site: u16, at_beginning: bool) {
        let return_sp = self.open.last().map_or(BOTTOM, |open| open.return_sp);
        let mut same_call = self.open.iter().rev().take_while(|open| open.return_sp == return_sp);
        let back = same_call.position(|open| self.nodes[open.node].routine == routine);
        match back {
            // Otherwise two routines that jump to each other would nest without end.
            Some(back) => {
                self.open.truncate(self.open.len() - back);
                let node = self.current();
                self.nodes[node].calls += u64::from(at_beginning);
            }
            None => {
                self.push(routine, site, return_sp);
                let node = self.current();
                self.nodes[node].calls -= u64::from(!at_beginning);
            }
        }
    }

    fn push(&mut self, routine: u16, site: u16, return_sp: u16) {
        let caller = self.current();
        let callees = &self.nodes[caller].callees;
        let known = callees.iter().copied().find(|at| self.nodes[*at].routine == routine);
        let node = known.unwrap_or(self.nodes.len());
        if known.is_none() {
            self.nodes.push(CallNode { routine, site, calls: 0, own: 0, callees: Vec::new() });
            self.nodes[caller].callees.push(node);
        }
        self.nodes[node].calls += 1;
        self.open.push(OpenFrame { node, return_sp });
    }

    /// Closes the calls whose return address was popped from the stack.
    pub(crate) fn close_above(&mut self, sp: u16) {
        while self.open.pop_if(|open| sp > open.return_sp).is_some() {}
    }

    /// Closes all calls.
    pub(crate) fn close_all(&mut self) {
        self.open.clear();
    }

    /// Adds T-states to the current routine.
    pub(crate) fn add_t_states(&mut self, t_states: u64) {
        let current = self.current();
        self.nodes[current].own += t_states;
    }

    /// The current routine; `None` before the first one.
    pub(crate) fn running(&self) -> Option<u16> {
        self.open.last().map(|open| self.nodes[open.node].routine)
    }

    fn current(&self) -> usize {
        self.open.last().map_or(0, |open| open.node)
    }
}
