//! A tree of calls with the T-states of each, seen from the stack pointer and the routines'
//! addresses.

/// The stack pointer inside of what was not called: no return address is above it.
const BOTTOM: u16 = u16::MAX;

/// A call tree. The first node is whoever called nobody known.
#[derive(Debug, Clone)]
pub struct CallTree {
    nodes: Vec<Node>,
    /// The routines that are open, the innermost last.
    open: Vec<OpenFrame>,
}

/// A routine that was entered and has not returned. Routines that are entered by a jump, or by
/// running into them, return together with the one that they were entered from, and have its stack
/// pointer.
#[derive(Debug, Clone, Copy)]
struct OpenFrame {
    node: usize,
    inside: u16,
}

/// All entries of a routine by the same chain of routines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The routine's address; that of the first node means nothing.
    pub routine: u16,
    /// The instruction that entered it first.
    pub site: u16,
    /// The number of times it was called, jumped to or run into at its beginning.
    pub calls: u64,
    /// T-states in it, those of the routines that it entered left out.
    pub own: u64,
    /// The nodes of the routines that it entered, in the order in which that happened first.
    pub callees: Vec<usize>,
}

impl Default for CallTree {
    fn default() -> Self {
        let root = Node { routine: 0, site: 0, calls: 1, own: 0, callees: Vec::new() };
        Self { nodes: vec![root], open: Vec::new() }
    }
}

impl CallTree {
    /// The node of a number; 0 is the first one.
    ///
    /// # Panics
    /// Panics if there is no such node.
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

    /// Takes note of a call; the stack pointer is that after its return address was pushed.
    pub(super) fn enter(&mut self, routine: u16, site: u16, sp: u16) {
        self.push(routine, site, sp);
    }

    /// Takes note of an instruction after which another routine runs without a call: by a jump, or
    /// because the routine before it ends there. A routine that is open in the same call goes on; a
    /// new one returns with its caller.
    pub(super) fn continue_in(&mut self, routine: u16, site: u16, at_beginning: bool) {
        let inside = self.open.last().map_or(BOTTOM, |open| open.inside);
        let mut same_call = self.open.iter().rev().take_while(|open| open.inside == inside);
        let back = same_call.position(|open| self.nodes[open.node].routine == routine);
        match back {
            // Two routines that jump to each other would else be ever deeper.
            Some(back) => {
                self.open.truncate(self.open.len() - back);
                let node = self.current();
                self.nodes[node].calls += u64::from(at_beginning);
            }
            None => {
                self.push(routine, site, inside);
                let node = self.current();
                self.nodes[node].calls -= u64::from(!at_beginning);
            }
        }
    }

    fn push(&mut self, routine: u16, site: u16, inside: u16) {
        let caller = self.current();
        let callees = &self.nodes[caller].callees;
        let known = callees.iter().copied().find(|at| self.nodes[*at].routine == routine);
        let node = known.unwrap_or(self.nodes.len());
        if known.is_none() {
            self.nodes.push(Node { routine, site, calls: 0, own: 0, callees: Vec::new() });
            self.nodes[caller].callees.push(node);
        }
        self.nodes[node].calls += 1;
        self.open.push(OpenFrame { node, inside });
    }

    /// Closes the calls whose return address is gone from the stack.
    pub(super) fn close_above(&mut self, sp: u16) {
        while self.open.pop_if(|open| sp > open.inside).is_some() {}
    }

    /// Takes note of T-states.
    pub(super) fn add_t_states(&mut self, t_states: u64) {
        let current = self.current();
        self.nodes[current].own += t_states;
    }

    /// The routine that is running; `None` before the first one.
    pub(super) fn running(&self) -> Option<u16> {
        self.open.last().map(|open| self.nodes[open.node].routine)
    }

    fn current(&self) -> usize {
        self.open.last().map_or(0, |open| open.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls of a routine over the whole tree, and its T-states with those of what it entered.
    fn of(calls: &CallTree, routine: u16) -> (u64, u64) {
        let nodes = 1..calls.nodes.len();
        let of_it = nodes.filter(|at| calls.nodes[*at].routine == routine);
        of_it
            .fold((0, 0), |(count, all), at| (count + calls.nodes[at].calls, all + calls.total(at)))
    }

    #[test]
    fn a_routine_that_is_run_into_returns_with_the_one_before_it() {
        let mut calls = CallTree::default();
        calls.enter(0x100, 0x10, 0x8000);
        calls.add_t_states(7);
        calls.continue_in(0x200, 0x105, true);
        calls.add_t_states(5);
        calls.close_above(0x8002);
        calls.add_t_states(3);
        assert_eq!((of(&calls, 0x100), of(&calls, 0x200)), ((1, 12), (1, 5)));
        assert_eq!((calls.total(0), calls.node(0).own), (15, 3));
    }

    #[test]
    fn routines_that_jump_to_each_other_do_not_pile_up() {
        let mut calls = CallTree::default();
        calls.enter(0x100, 0x10, 0x8000);
        for _ in 0..1000 {
            calls.continue_in(0x200, 0x105, true);
            calls.continue_in(0x100, 0x205, false);
        }
        assert_eq!((calls.nodes.len(), calls.open.len()), (3, 1));
        assert_eq!((of(&calls, 0x100).0, of(&calls, 0x200).0), (1, 1000));
    }
}
