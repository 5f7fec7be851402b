import type { JsonMember } from './json-members.ts'

/** A JSON text as its bytes and as letters. */
export interface JsonText {
  /** In UTF-8. */
  bytes: Buffer
  text: string
}

/** A part of a JSON text, with the text to put in its place. Positions count letters. */
interface Edit {
  from: number
  to: number
  text: string
}

/**
 * Sets fields of a JSON object in its bytes. Everything else stays byte for byte. Of fields with the same name only the
 * last one stays, as `JSON.parse` reads them: servers differ in which one counts.
 *
 * @param json valid JSON of an object
 * @param members its fields
 * @param changes values to set, by name. Undefined removes a field
 * @returns the bytes themselves when there is nothing to change
 */
export function splicedJson(
  json: JsonText,
  members: readonly JsonMember[],
  changes: Readonly<Record<string, unknown>>,
): Buffer {
  const last = new Map<string, JsonMember>()
  for (const member of members) last.set(member.name, member)
  const names = Object.keys(changes)
  const isSame = last.size === members.length && !names.some((name) => last.has(name))
  const edits = isSame ? [] : editsOf(members, last, changes)
  const added = names.filter((name) => changes[name] !== undefined && !last.has(name))
  if (added.length > 0) {
    const end = members.at(-1)?.to ?? json.text.indexOf('{') + 1
    const isFirst = members.length === edits.filter(({ text }) => text === '').length
    const text = added.map((name) => fieldText(name, changes[name])).join()
    edits.push({ from: end, to: end, text: isFirst ? text : `,${text}` })
  }
  return edits.length === 0 ? json.bytes : edited(json, edits)
}

/** @param last the last field of each name */
function editsOf(
  members: readonly JsonMember[],
  last: ReadonlyMap<string, JsonMember>,
  changes: Readonly<Record<string, unknown>>,
): Edit[] {
  const edits: Edit[] = []
  let hasKept = false
  for (const [index, member] of members.entries()) {
    const { name, begin, to } = member
    const isChanged = Object.hasOwn(changes, name)
    if (last.get(name) === member && !(isChanged && changes[name] === undefined)) {
      hasKept = true
      if (isChanged) edits.push({ from: begin, to, text: fieldText(name, changes[name]) })
    }
    // With the comma before it, or the one behind it where it is the first.
    else if (hasKept) edits.push({ from: members[index - 1]?.to ?? begin, to, text: '' })
    else edits.push({ from: begin, to: members[index + 1]?.begin ?? to, text: '' })
  }
  return edits
}

const fieldText = (name: string, value: unknown): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`

function edited(json: JsonText, edits: readonly Edit[]): Buffer {
  const { bytes } = json
  const pieces: Buffer[] = []
  let copied = 0
  for (const { from, to, text } of edits) {
    pieces.push(bytes.subarray(copied, byteAt(json, from)), Buffer.from(text))
    copied = byteAt(json, to)
  }
  return Buffer.concat([...pieces, bytes.subarray(copied)])
}

/** Position in the bytes of a position in the text. Counts from the nearer end: most fields stand before or after a long one. */
function byteAt({ bytes, text }: JsonText, at: number): number {
  if (text.length === bytes.length) return at
  if (at < text.length / 2) return Buffer.byteLength(text.slice(0, at))
  return bytes.length - Buffer.byteLength(text.slice(at))
}
