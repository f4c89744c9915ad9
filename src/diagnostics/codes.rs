//! The registry of diagnostic codes.
//!
//! One line a code. Each code has a page in `docs/src/diagnostics/`, which the manual and
//! `clinker explain --code` both show. A released code is never reused for another meaning.

/// Which part of the work a code belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Category {
    /// The pipeline file: keys, names, wiring.
    Structure,
    /// CXL programs and node rules.
    Cxl,
    /// Sources: matching, opening, decoding, typing.
    Source,
    /// Sinks and published files.
    Sink,
    /// Memory limits and spilling.
    Memory,
    /// Error handling and dead letters.
    Errors,
}

macro_rules! codes {
    ($($name:ident $text:literal $category:ident $title:literal;)*) => {
        /// A stable diagnostic code.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every registered code, in code order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The code as it is printed, such as `E203`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// What the code means, as a short phrase.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }

            /// The part of the work it belongs to.
            pub fn category(self) -> Category {
                match self { $(Code::$name => Category::$category,)* }
            }

            /// The code's page, as Markdown.
            pub fn page(self) -> &'static str {
                match self {
                    $(Code::$name => include_str!(concat!("../../docs/src/diagnostics/", $text, ".md")),)*
                }
            }
        }
    };
}

codes! {
    E000 "E000" Structure "the pipeline file is not valid YAML, or a key is unknown, missing or of the wrong kind";
    E001 "E001" Structure "two nodes have one name";
    E002 "E002" Structure "a node reads from itself";
    E003 "E003" Structure "nodes read from each other in a circle";
    E004 "E004" Structure "an input names no node or port";
    E010 "E010" Structure "a node's name contains a dot";
    E119 "E119" Structure "`date_locale` is not a setting";
    E124 "E124" Structure "`log_rules` is not a setting";
    E125 "E125" Structure "`include_provenance` is not a setting";
    E126 "E126" Source "a value does not fit its declared type";
    E151 "E151" Structure "nothing proves that a streaming aggregate's groups come together";
    E153 "E153" Structure "a correlation key names a column that its source does not declare";
    E158 "E158" Source "`numeric` is not a column type";
    E15C "E15C" Structure "a node's `partition_by` splits correlation groups";
    E15Y "E15Y" Structure "a streaming aggregate's `group_by` splits correlation groups";
    E199 "E199" Structure "this version does not run it yet";
    E200 "E200" Cxl "a type or a node rule does not hold";
    E201 "E201" Source "a source has no schema";
    E202 "E202" Cxl "CXL text does not parse";
    E203 "E203" Cxl "a name is not known";
    E210 "E210" Source "a source has several file matchers";
    E211 "E211" Source "a source has no file matcher";
    E212 "E212" Source "a glob pattern is not valid";
    E213 "E213" Source "a file regex is not valid";
    E216 "E216" Source "no input file was found";
    E310 "E310" Memory "something does not fit the memory limit";
    E312 "E312" Memory "the memory limit is below the program's own size";
    E314 "E314" Structure "the inputs of a merge have different columns";
    E315 "E315" Errors "too many dead letters";
    E316 "E316" Errors "too many dead letters from one source";
    E317 "E317" Errors "dead-letter settings for a source that does not exist";
    E318 "E318" Errors "a dead-letter rate or path is not usable";
    E320 "E320" Memory "the spill folder can't be written or read";
    E321 "E321" Memory "the spill folder is full";
    E322 "E322" Sink "two of the run's files are one file";
    E324 "E324" Memory "`resume_threshold` is outside its range";
    E364 "E364" Sink "a sink's mapping is not usable";
    E365 "E365" Sink "a mapped column can't exist";
    E366 "E366" Source "a file is not in the order that its source declares";
    E368 "E368" Errors "too many values do not fit their declared type";
    E380 "E380" Structure "sources above a merge treat undeclared fields differently";
    E381 "E381" Cxl "a statement can't stand in an aggregate";
    E390 "E390" Errors "an internal error: a bug in the program";
    E391 "E391" Source "a file is not the CSV that its source declares";
    E392 "E392" Errors "an expression failed on a row";
    E393 "E393" Errors "a row failed a validation";
    E394 "E394" Sink "an output can't be written";
    E395 "E395" Source "an input can't be read";
    E396 "E396" Cxl "a value can't be a key of a group";
    E397 "E397" Errors "two rules write one cell";
    ESEC001 "E-SEC-001" Structure "a path leaves the base directory";
    W002 "W002" Structure "two names differ only in case";
    W201 "W201" Structure "nothing reads a port";
    W202 "W202" Cxl "a comment takes in the line below it";
    W203 "W203" Structure "a setting has no effect";
    W204 "W204" Cxl "a program does nothing";
    W205 "W205" Cxl "a comparison is never true";
    W206 "W206" Cxl "an expression gives the same for every row";
    W207 "W207" Cxl "a value is never null";
    W208 "W208" Cxl "a column is read behind an emit of its name";
    W209 "W209" Cxl "a count counts what is false";
    W216 "W216" Source "an input file is not there yet";
    W307 "W307" Source "a file was not in its declared order, and was sorted";
    W318 "W318" Errors "dead letters are counted but not written";
    W364 "W364" Sink "an excluded column can't exist";
    W365 "W365" Sink "a mapped column was on no record";
    W366 "W366" Sink "a mapped name takes the place of a carried column";
    W393 "W393" Errors "a row does not hold a validation that only warns";
    W396 "W396" Cxl "values that are not null count as no value";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Code {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Code::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(text)).ok_or(())
    }
}
