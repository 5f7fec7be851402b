import { GazewayError } from '../../errors.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Note } from './reported-changes.ts'
import { isInexpressible } from './request-reader.ts'

/** Most parts that a request may lose. */
const MOST_DROPPED = 100
/** Text that the conversions of one request may read, in characters: each lost part is one conversion more. */
const MOST_READ = 32 * 1024 * 1024

type Path = readonly string[]

/** Terms of a conversion that may lose parts of a request. */
interface Terms {
  note: Note
  /** Number of parts that may be dropped and named because the other API cannot express them. 0: each is refused. */
  mostDropped: number
}

/**
 * Number of parts that a lenient request may lose: a long one loses few, because its conversion occupies the process.
 *
 * @param length of the request, in characters
 */
export const mostDroppedOf = (length: number): number => Math.min(MOST_DROPPED, Math.ceil(MOST_READ / length))

/**
 * Converts a request to another API. A lenient request loses the parts that the API cannot express, each named by its
 * path in the request as it was sent.
 *
 * @param convert throws the error of `unsupported` for each such part
 * @throws GazewayError `invalid_request` naming the field, for a request that is not lenient or is malformed
 */
export function fitted<Converted extends object>(
  request: object,
  { note, mostDropped }: Terms,
  convert: (request: object, note: Note) => Converted,
): Converted {
  if (mostDropped === 0) return convert(request, note)
  let left = request
  let last: Path = []
  const dropped: Path[] = []
  const noteSent: Note = (field, what) => note(sentPath(field.split('.'), dropped).join('.'), what)
  for (;;) {
    try {
      const converted = convert(left, noteSent)
      for (const path of dropped) note(path.join('.'), 'dropped')
      return converted
    } catch (error) {
      const path = dropped.length < mostDropped ? unfitPath(error, last) : null
      if (path === null || path.length === 0) throw error
      if (path.length < last.length && path.every((name, at) => name === last[at])) dropped.pop()
      left = without(left, path) as object
      last = path
      dropped.push(sentPath(path, dropped))
    }
  }
}

/**
 * Path of the part to drop for an error. Null when the request is malformed.
 *
 * @param last path of the field that was dropped before: where its object needs it, the object is dropped
 */
function unfitPath(error: unknown, last: Path): Path | null {
  if (!(error instanceof GazewayError) || error.param === null) return null
  const path = error.param.split('.')
  if (isInexpressible(error)) return path
  const around = last.slice(0, -1)
  const isFor = !isIndex(last.at(-1) ?? '0') && around.every((name, at) => path[at] === name)
  return isFor ? around : null
}

const isIndex = (name: string): boolean => /^\d+$/.test(name)

/** Path in the request as it was sent: entries of a list move up when one before them is dropped. */
function sentPath(path: Path, dropped: readonly Path[]): Path {
  const sent: string[] = []
  for (const name of path) {
    const before = dropped
      .filter((one) => one.length === sent.length + 1 && sent.every((part, at) => part === one[at]))
      .map((one) => Number(one.at(-1)))
      .sort((one, other) => one - other)
    let index = Number(name)
    for (const at of isIndex(name) ? before : []) if (at <= index) index++
    sent.push(isIndex(name) ? String(index) : name)
  }
  return sent
}

/** A value without the part at a path. */
function without(value: unknown, [name = '', ...rest]: Path): unknown {
  if (Array.isArray(value))
    return rest.length === 0
      ? value.filter((_, index) => String(index) !== name)
      : value.map((entry, index) => (String(index) === name ? without(entry, rest) : entry))
  const { [name]: part, ...others } = value as Fields
  return rest.length === 0 || typeof part !== 'object' || part === null
    ? others
    : { ...others, [name]: without(part, rest) }
}
