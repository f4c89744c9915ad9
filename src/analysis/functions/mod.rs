//! The methods of CXL: their names, signatures and result types.
//!
//! A method is one variant and one line of the registry here, one [`Signature`] in the file of its family, one kernel
//! in `exec::eval::functions`, and examples that are run as tests and printed in the manual.

mod convert;
mod date;
mod introspect;
mod numeric;
mod path;
pub mod signature;
mod string;

use signature::ResultKind;
pub use signature::Signature;

macro_rules! functions {
    ($($variant:ident $name:literal $signature:path;)*) => {
        /// A method of CXL.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Function {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Function {
            /// Every method, in registry order.
            pub const ALL: &'static [Function] = &[$(Function::$variant,)*];

            /// The name it is called by.
            pub fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            /// The method called `name`.
            pub fn by_name(name: &str) -> Option<Function> {
                match name { $($name => Some(Function::$variant),)* _ => None }
            }

            /// What it takes and gives.
            pub fn signature(self) -> &'static Signature {
                match self { $(Function::$variant => &$signature,)* }
            }
        }
    };
}

impl Function {
    /// Whether it asks something of its receiver. What reads a bool as it is written asks nothing.
    pub fn asks(self) -> bool {
        self.signature().result == ResultKind::Bool && !matches!(self, Function::ToBool | Function::TryBool)
    }
}

functions! {
    Upper "upper" string::UPPER;
    Lower "lower" string::LOWER;
    Trim "trim" string::TRIM;
    TrimStart "trim_start" string::TRIM_START;
    TrimEnd "trim_end" string::TRIM_END;
    StartsWith "starts_with" string::STARTS_WITH;
    EndsWith "ends_with" string::ENDS_WITH;
    Contains "contains" string::CONTAINS;
    Replace "replace" string::REPLACE;
    Substring "substring" string::SUBSTRING;
    Left "left" string::LEFT;
    Right "right" string::RIGHT;
    PadLeft "pad_left" string::PAD_LEFT;
    PadRight "pad_right" string::PAD_RIGHT;
    Repeat "repeat" string::REPEAT;
    Reverse "reverse" string::REVERSE;
    Length "length" string::LENGTH;
    Split "split" string::SPLIT;
    Join "join" string::JOIN;
    Matches "matches" string::MATCHES;
    Find "find" string::FIND;
    Capture "capture" string::CAPTURE;
    Concat "concat" string::CONCAT;
    Abs "abs" numeric::ABS;
    Ceil "ceil" numeric::CEIL;
    Floor "floor" numeric::FLOOR;
    Round "round" numeric::ROUND;
    RoundTo "round_to" numeric::ROUND_TO;
    Clamp "clamp" numeric::CLAMP;
    Min "min" numeric::MIN;
    Max "max" numeric::MAX;
    Year "year" date::YEAR;
    Month "month" date::MONTH;
    Day "day" date::DAY;
    Hour "hour" date::HOUR;
    Minute "minute" date::MINUTE;
    Second "second" date::SECOND;
    AddDays "add_days" date::ADD_DAYS;
    AddMonths "add_months" date::ADD_MONTHS;
    AddYears "add_years" date::ADD_YEARS;
    DiffDays "diff_days" date::DIFF_DAYS;
    DiffMonths "diff_months" date::DIFF_MONTHS;
    DiffYears "diff_years" date::DIFF_YEARS;
    FormatDate "format_date" date::FORMAT_DATE;
    ToInt "to_int" convert::TO_INT;
    TryInt "try_int" convert::TRY_INT;
    ToFloat "to_float" convert::TO_FLOAT;
    TryFloat "try_float" convert::TRY_FLOAT;
    ToDecimal "to_decimal" convert::TO_DECIMAL;
    TryDecimal "try_decimal" convert::TRY_DECIMAL;
    ToString "to_string" convert::TO_STRING;
    ToBool "to_bool" convert::TO_BOOL;
    TryBool "try_bool" convert::TRY_BOOL;
    ToDate "to_date" convert::TO_DATE;
    TryDate "try_date" convert::TRY_DATE;
    ToDateTime "to_datetime" convert::TO_DATETIME;
    TryDateTime "try_datetime" convert::TRY_DATETIME;
    TypeOf "type_of" introspect::TYPE_OF;
    IsNull "is_null" introspect::IS_NULL;
    IsEmpty "is_empty" introspect::IS_EMPTY;
    Catch "catch" introspect::CATCH;
    Debug "debug" introspect::DEBUG;
    FileName "file_name" path::FILE_NAME;
    FileStem "file_stem" path::FILE_STEM;
    Extension "extension" path::EXTENSION;
    Parent "parent" path::PARENT;
    ParentName "parent_name" path::PARENT_NAME;
}
