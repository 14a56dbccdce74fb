//! How the types of single fields are coded, and frames that are nothing but a row of such fields.

use cc_algos::ids::{BlockId, Entropy, PathId};
use cc_algos::units::{Rate, Span, Timestamp};

use super::{Reader, WireError, Writer, varint_len};

/// The largest entropy, twenty bits: the width of an IPv6 flow label.
pub const ENTROPY_MAX: u32 = 0xf_ffff;

/// A type with one encoding.
pub(super) trait Field: Copy {
    fn encoded_len(self) -> usize;
    fn write(self, writer: &mut Writer<'_>, what: &'static str) -> Result<(), WireError>;
    fn parse(reader: &mut Reader<'_>, what: &'static str) -> Result<Self, WireError>;
}

/// A newtype that travels as a variable-length integer of its content, up to a limit.
macro_rules! varint_field {
    ($ty:ty, $limit:expr, |$value:ident| $raw:expr, |$read:ident| $made:expr) => {
        impl Field for $ty {
            #[inline]
            fn encoded_len(self) -> usize {
                let $value = self;
                varint_len($raw)
            }
            #[inline]
            fn write(self, writer: &mut Writer<'_>, what: &'static str) -> Result<(), WireError> {
                let $value = self;
                writer.varint_up_to($raw, $limit, what)
            }
            #[inline]
            fn parse(reader: &mut Reader<'_>, what: &'static str) -> Result<Self, WireError> {
                let $read = reader.varint_up_to($limit, what)?;
                Ok($made)
            }
        }
    };
}

varint_field!(u64, super::VARINT_MAX, |value| value, |read| read);
// The limits of the next three are those of the type, so that no cast loses a bit.
varint_field!(u16, u64::from(u16::MAX), |value| u64::from(value), |read| read as u16);
varint_field!(PathId, u64::from(u16::MAX), |path| u64::from(path.0), |read| Self(read as u16));
varint_field!(Entropy, u64::from(ENTROPY_MAX), |entropy| u64::from(entropy.0), |read| Self(read as u32));
varint_field!(BlockId, super::VARINT_MAX, |block| block.0, |read| Self(read));
varint_field!(Span, super::VARINT_MAX, |span| span.as_nanos(), |read| Self::from_nanos(read));
varint_field!(Timestamp, super::VARINT_MAX, |at| at.as_nanos(), |read| Self::from_nanos(read));
varint_field!(Rate, super::VARINT_MAX, |rate| rate.as_bps(), |read| Self::from_bps(read));

impl Field for u8 {
    #[inline]
    fn encoded_len(self) -> usize {
        1
    }
    #[inline]
    fn write(self, writer: &mut Writer<'_>, what: &'static str) -> Result<(), WireError> {
        writer.u8(self, what)
    }
    #[inline]
    fn parse(reader: &mut Reader<'_>, what: &'static str) -> Result<Self, WireError> {
        reader.u8(what)
    }
}

impl<const N: usize> Field for [u8; N] {
    #[inline]
    fn encoded_len(self) -> usize {
        N
    }
    #[inline]
    fn write(self, writer: &mut Writer<'_>, what: &'static str) -> Result<(), WireError> {
        writer.array(self, what)
    }
    #[inline]
    fn parse(reader: &mut Reader<'_>, what: &'static str) -> Result<Self, WireError> {
        reader.array(what)
    }
}

/// Gives a frame its public `parse`, which reads the type byte before the frame's own `parse_body(flags, reader)`.
macro_rules! parse_with_type {
    ($name:ty, $kind:ident) => {
        impl $name {
            /// Reads the frame, type byte included.
            ///
            /// # Errors
            /// [`WireError::Invalid`] if another frame stands here; otherwise what is wrong with this one.
            pub fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
                let flags = FrameType::$kind.expect(reader)?;
                Self::parse_body(flags, reader)
            }
        }
    };
}

/// Declares a frame that is a type byte and a row of fields, each coded as its type says.
macro_rules! plain_frame {
    (
        $(#[$doc:meta])*
        $name:ident { $( $(#[$field_doc:meta])* $field:ident: $ty:ty = $what:literal, )* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $( $(#[$field_doc])* pub $field: $ty, )*
        }

        impl $name {
            /// Bytes that [`write`](Self::write) takes, type byte included.
            #[inline]
            pub fn encoded_len(&self) -> usize {
                1 $( + Field::encoded_len(self.$field) )*
            }

            /// Writes the frame, type byte included.
            ///
            /// # Errors
            /// [`WireError::NoRoom`], or [`WireError::TooLarge`] for a value that its field cannot hold.
            pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
                writer.u8(FrameType::$name as u8, "frame type")?;
                $( Field::write(self.$field, writer, $what)?; )*
                Ok(())
            }

            pub(super) fn parse_body(_: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
                Ok(Self { $( $field: Field::parse(reader, $what)?, )* })
            }
        }

        parse_with_type!($name, $name);
    };
}

pub(super) use {parse_with_type, plain_frame};
