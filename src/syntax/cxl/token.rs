//! Tokens of CXL, and what the newline filter has to know about each.

use crate::diagnostics::Span;

macro_rules! words {
    ($($name:ident $text:literal,)*) => {
        /// A token.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Tok<'input> {
            $(#[doc = concat!("`", $text, "`")] $name,)*
            /// A name, or any word behind a `.`.
            Ident(&'input str),
            /// `$scope`, without the `$`.
            Scope(&'input str),
            /// A whole number.
            Int(i64),
            /// A number with a fraction.
            Float(f64),
            /// A text, escapes resolved.
            String(String),
            /// A date, as days since 1970-01-01.
            Date(i32),
            /// The level of a `trace`: `debug`, `info`, `warn` or `error`.
            Level(&'input str),
            /// The `{` behind `match` and its subject.
            MatchBrace,
            /// The whole `{ … }` of an `emit each`, whose statements are parsed on their own.
            Block,
            /// Stands between the guard and the message of a `trace`.
            GuardEnd,
            /// `9223372036854775808`, which is a number only behind a minus; never reaches the grammar.
            Magnitude,
            /// A line end; never reaches the grammar.
            Newline,
            /// What the lexer could not read, already reported; never reaches the grammar.
            Bad,
        }

        impl Tok<'_> {
            /// The token of a keyword.
            pub fn keyword(word: &str) -> Option<Tok<'static>> {
                let token = match word { $($text => Tok::$name,)* _ => return None };
                token.is_keyword().then_some(token)
            }

            /// The fixed spelling of the token, if it has one.
            pub fn spelling(&self) -> Option<&'static str> {
                match self { $(Tok::$name => Some($text),)* _ => None }
            }
        }
    };
}

words! {
    Let "let", Emit "emit", If "if", Then "then", Else "else", And "and", Or "or", Not "not", Match "match", Use "use",
    As "as", Fn "fn", Trace "trace", Null "null", True "true", False "false", Now "now", It "it", Filter "filter",
    Distinct "distinct", By "by", For "for", In "in", Each "each", Outer "outer",
    Plus "+", Minus "-", Star "*", Slash "/", Percent "%", EqualEqual "==", NotEqual "!=", Less "<", LessEqual "<=",
    Greater ">", GreaterEqual ">=", Coalesce "??", Arrow "=>", Equal "=", Dot ".", Comma ",", Colon ":",
    LeftParen "(", RightParen ")", LeftBracket "[", RightBracket "]", LeftBrace "{", RightBrace "}", Underscore "_",
}

impl Tok<'_> {
    /// Whether it is one of the 23 words that can't be names. `each` and `outer` are words only in their place.
    pub fn is_keyword(&self) -> bool {
        let word = self.spelling().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_lowercase()));
        word && !matches!(self, Tok::Each | Tok::Outer)
    }

    /// Whether the word can only stand at the start of a statement.
    pub fn starts_statement(&self) -> bool {
        matches!(self, Tok::Let | Tok::Emit | Tok::Filter | Tok::Distinct | Tok::Trace | Tok::Use | Tok::Fn)
    }

    /// Whether an expression, and so a line, may end with it.
    pub fn ends_expression(&self) -> bool {
        let closes = matches!(self, Tok::RightParen | Tok::RightBracket | Tok::RightBrace | Tok::Block | Tok::Bad);
        closes || self.is_operand() || matches!(self, Tok::Distinct)
    }

    /// Whether it is a whole operand by itself.
    fn is_operand(&self) -> bool {
        let literal = matches!(self, Tok::Int(_) | Tok::Float(_) | Tok::String(_) | Tok::Date(_));
        let name = matches!(self, Tok::Ident(_) | Tok::Scope(_) | Tok::Underscore);
        literal || name || matches!(self, Tok::Null | Tok::True | Tok::False | Tok::Now | Tok::It)
    }

    /// Whether an expression may start with it, and what stands in front can't go on with it.
    pub fn starts_operand(&self) -> bool {
        self.is_operand() || matches!(self, Tok::If | Tok::Not | Tok::Match | Tok::LeftBrace)
    }

    /// Whether an expression may start with it.
    pub fn starts_expression(&self) -> bool {
        self.starts_operand() || matches!(self, Tok::Minus | Tok::LeftParen | Tok::LeftBracket)
    }

    /// Whether it compares.
    pub fn is_comparison(&self) -> bool {
        matches!(self, Tok::EqualEqual | Tok::NotEqual | Tok::Less | Tok::LessEqual | Tok::Greater | Tok::GreaterEqual)
    }

    /// Whether a line that begins with it goes on with the line before.
    pub fn continues_line(&self) -> bool {
        self.is_comparison()
            || matches!(
                self,
                Tok::Then
                    | Tok::Else
                    | Tok::Plus
                    | Tok::Star
                    | Tok::Slash
                    | Tok::Percent
                    | Tok::And
                    | Tok::Or
                    | Tok::Coalesce
                    | Tok::Dot
            )
    }

    /// The bracket that closes what it opens.
    pub fn closer(&self) -> Option<Tok<'static>> {
        match self {
            Tok::LeftParen => Some(Tok::RightParen),
            Tok::LeftBracket => Some(Tok::RightBracket),
            Tok::LeftBrace | Tok::MatchBrace => Some(Tok::RightBrace),
            _ => None,
        }
    }

    /// Whether it closes a bracket.
    pub fn closes(&self) -> bool {
        matches!(self, Tok::RightParen | Tok::RightBracket | Tok::RightBrace)
    }
}

/// A token with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Token<'input> {
    /// What it is.
    pub tok: Tok<'input>,
    /// Where it stands in the file.
    pub span: Span,
    /// The text it was read from, decoded.
    pub text: &'input str,
    /// Offset of that text in the decoded program.
    pub offset: usize,
}
