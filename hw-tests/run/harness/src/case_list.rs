//! Lists that make their cases on demand, so that they may store them compactly.

use crate::case_index::CaseIndex;
use crate::suite::Suite;

/// Cases by index. A list has at most 2^32 cases.
pub trait CaseList<C>: Sync {
    /// Returns the number of cases.
    fn len(&self) -> usize;

    /// Returns the case at an index, from 0.
    ///
    /// # Panics
    /// Panics if there is none.
    fn case(&self, index: usize) -> C;

    /// Returns `true` if there are no cases.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all cases, in order.
    fn cases(&self) -> Box<dyn Iterator<Item = C> + '_> {
        Box::new((0..self.len()).map(|index| self.case(index)))
    }
}

impl<C: Clone + Sync> CaseList<C> for Vec<C> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn case(&self, index: usize) -> C {
        self[index].clone()
    }
}

impl<C, L: CaseList<C> + ?Sized> CaseList<C> for &L {
    fn len(&self) -> usize {
        (**self).len()
    }

    fn case(&self, index: usize) -> C {
        (**self).case(index)
    }
}

/// Returns the names of cases, in order.
pub(crate) fn ids<S: Suite>(cases: &dyn CaseList<S::Case>) -> impl Iterator<Item = String> {
    cases.cases().map(|case| S::id(&case).to_owned())
}

/// Returns the first name that an earlier case has, too; `None` if all names differ.
pub fn repeated_name<S: Suite>(cases: &dyn CaseList<S::Case>) -> Option<String> {
    let mut names = CaseIndex::with_capacity(cases.len());
    ids::<S>(cases).find(|name| !names.insert(name).1)
}

/// Some cases of a list, in an order of their own.
#[derive(Debug, Clone)]
pub struct SelectedCases<L> {
    list: L,
    pub(crate) indices: Vec<u32>,
}

impl<L> SelectedCases<L> {
    /// Selects the cases that satisfy a predicate, in the order of the list.
    pub fn new<C>(list: L, is_selected: impl Fn(&C) -> bool) -> Self
    where
        L: CaseList<C>,
    {
        let indices = 0..list.len() as u32;
        let indices = indices.filter(|index| is_selected(&list.case(*index as usize))).collect();
        Self { list, indices }
    }
}

impl<C, L: CaseList<C>> CaseList<C> for SelectedCases<L> {
    fn len(&self) -> usize {
        self.indices.len()
    }

    fn case(&self, index: usize) -> C {
        self.list.case(self.indices[index] as usize)
    }
}
