//! Tokens of CXL.

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub enum Tok<'input> {
    /// `null`
    Null,
    /// A name.
    Ident(&'input str),
}

/// What the lexer can't read.
#[derive(Clone, PartialEq, Debug)]
pub struct LexError;
