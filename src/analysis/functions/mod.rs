//! The methods of CXL: their names, signatures and result types.
//!
//! A method is one variant here, one line of the registry, one kernel in `exec::eval::functions`, and examples that
//! are run as tests and printed in the manual.

macro_rules! functions {
    ($($variant:ident $name:literal;)*) => {
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
        }
    };
}

functions! {
    Upper "upper"; Lower "lower"; Trim "trim"; TrimStart "trim_start"; TrimEnd "trim_end";
    StartsWith "starts_with"; EndsWith "ends_with"; Contains "contains"; Replace "replace";
    Substring "substring"; Left "left"; Right "right"; PadLeft "pad_left"; PadRight "pad_right";
    Repeat "repeat"; Reverse "reverse"; Length "length"; Split "split"; Join "join";
    Matches "matches"; Find "find"; Capture "capture"; Concat "concat";
    Abs "abs"; Ceil "ceil"; Floor "floor"; Round "round"; RoundTo "round_to"; Clamp "clamp"; Min "min"; Max "max";
    Year "year"; Month "month"; Day "day"; Hour "hour"; Minute "minute"; Second "second";
    AddDays "add_days"; AddMonths "add_months"; AddYears "add_years";
    DiffDays "diff_days"; DiffMonths "diff_months"; DiffYears "diff_years"; FormatDate "format_date";
    ToInt "to_int"; TryInt "try_int"; ToFloat "to_float"; TryFloat "try_float";
    ToDecimal "to_decimal"; TryDecimal "try_decimal"; ToString "to_string";
    ToBool "to_bool"; TryBool "try_bool"; ToDate "to_date"; TryDate "try_date";
    ToDateTime "to_datetime"; TryDateTime "try_datetime";
    TypeOf "type_of"; IsNull "is_null"; IsEmpty "is_empty"; Catch "catch"; Debug "debug";
    FileName "file_name"; FileStem "file_stem"; Extension "extension"; Parent "parent"; ParentName "parent_name";
}
