import { outlineOf } from '../../text/json-members.ts'
import { splicedJson } from '../../text/json-splice.ts'

/** The JSON body of a request, as its cloud wants to read and change it. */
export interface CloudBody {
  /** The value of a field. Undefined when there is none. */
  field(name: string): unknown
  /** The body with other fields; undefined removes one. All else stays byte for byte. */
  with(changes: Readonly<Record<string, unknown>>): Buffer
}

const SPACE = 0x20
const OBJECT = 0x7b

/** Reads a body. Null for none, and for a form or a recording. */
export function cloudBody(bytes: Buffer | null): CloudBody | null {
  if (bytes === null || bytes.find((byte) => byte > SPACE) !== OBJECT) return null
  const text = bytes.toString()
  const outline = outlineOf(text)
  return {
    field(name) {
      const member = outline.members.findLast((one) => one.name === name)
      return member && JSON.parse(text.slice(member.from, member.to))
    },
    with: (changes) => splicedJson(bytes, outline, changes),
  }
}
