import { createTypedReader, type TypedReader, WrongTypeError } from '../../text/typed-reader.ts'

/**
 * Reads the answers of upstreams. A wrong type is an error of the upstream (`upstream_bad_reply`); providers differ in
 * the fields that they omit or send as null.
 */
export const read: TypedReader = createTypedReader((path, expected) => new WrongTypeError(path, expected))
