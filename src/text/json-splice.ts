import type { JsonMember, JsonOutline } from './json-members.ts'

/** A part of a JSON text, with the text to put in its place. Positions are those of its outline. */
interface Edit {
  from: number
  to: number
  text: string
}

/**
 * Sets fields of a JSON object in its bytes. Everything else stays byte for byte. Of fields with the same name only the
 * last one stays, as `JSON.parse` reads them: servers differ in which one counts.
 *
 * @param bytes valid JSON of an object, in UTF-8
 * @param changes values to set, by name. Undefined removes a field
 * @returns the bytes themselves when there is nothing to change
 */
export function splicedJson(
  bytes: Buffer,
  { letters, members }: Pick<JsonOutline, 'letters' | 'members'>,
  changes: Readonly<Record<string, unknown>>,
): Buffer {
  const last = new Map<string, JsonMember>()
  for (const member of members) last.set(member.name, member)
  const names = Object.keys(changes)
  const isSame = last.size === members.length && !names.some((name) => last.has(name))
  const edits = isSame ? [] : editsOf(members, last, changes)
  const added = names.filter((name) => changes[name] !== undefined && !last.has(name))
  if (added.length > 0) {
    const end = members.at(-1)?.to ?? letters.indexOf('{') + 1
    const isFirst = members.length === edits.filter(({ text }) => text === '').length
    const text = added.map((name) => fieldText(name, changes[name])).join()
    edits.push({ from: end, to: end, text: isFirst ? text : `,${text}` })
  }
  return edits.length === 0 ? bytes : edited(bytes, letters, edits)
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

function edited(bytes: Buffer, letters: string, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = []
  let copied = 0
  for (const { from, to, text } of edits) {
    pieces.push(bytes.subarray(copied, byteAt(bytes, letters, from)), Buffer.from(text))
    copied = byteAt(bytes, letters, to)
  }
  return Buffer.concat([...pieces, bytes.subarray(copied)])
}

/** Position in the bytes of a position in the letters. Counts from the nearer end: most fields stand before or after a long one. */
function byteAt(bytes: Buffer, letters: string, at: number): number {
  if (letters.length === bytes.length) return at
  if (at < letters.length / 2) return Buffer.byteLength(letters.slice(0, at))
  return bytes.length - Buffer.byteLength(letters.slice(at))
}
