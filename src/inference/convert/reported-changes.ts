import { cut } from '../../text/cut.ts'

/** Word for what happened to a field of a request on its way to the upstream. */
export type ChangeWord = 'dropped' | 'rewritten' | 'moved' | 'added' | 'lowered'

/** A field of a request that reached the upstream in another form, or not at all. */
export interface Change {
  /** Dotted path, such as `messages.2.content`. */
  field: string
  what: ChangeWord
}

/** Notes a change of a request. The first word about a field stands. */
export type Note = (field: string, what: ChangeWord) => void

/** Changes of one request, in the order of their notes. */
export interface Changes {
  note: Note
  list(): readonly Change[]
}

/** Header that names the changes of a request. */
const HEADER = 'x-gazeway-changed'
/** Most changes that are kept and named: a long history may have one for each message. */
const NAMED = 20
/** Longest field that is named in full: clients invent some. */
const LONGEST_FIELD = 200

const NONE: readonly Change[] = []

/** Note of a conversion whose changes nobody asks for. */
export const UNNOTED: Note = () => {}

/** Creates an empty list of changes. */
export function createChanges(): Changes {
  let changes: Change[] | null = null
  return {
    note(field, what) {
      changes ??= []
      if (changes.length <= NAMED && !changes.some((one) => one.field === field)) changes.push({ field, what })
    },
    list: () => changes ?? NONE,
  }
}

/** Changes as texts for people, such as `top_k=dropped`; `more` for those after the first twenty. */
export function changeTexts(changes: readonly Change[]): string[] {
  const texts = changes
    .slice(0, NAMED)
    .map(({ field, what }) => `${cut(field, 0, LONGEST_FIELD).replace(/[^\w.-]/g, '_')}=${what}`)
  return changes.length > NAMED ? [...texts, 'more'] : texts
}

/**
 * Header that names changes to the client. Empty when there are none.
 *
 * @example changedHeader([{ field: 'top_k', what: 'dropped' }]) // { 'x-gazeway-changed': 'top_k=dropped' }
 */
export function changedHeader(changes: readonly Change[]): Record<string, string> {
  return changes.length === 0 ? {} : { [HEADER]: changeTexts(changes).join(', ') }
}

/**
 * Notes the fields of a request that a conversion leaves behind. Fields that ask for nothing are not mentioned.
 *
 * @param read fields that the conversion reads
 * @param path of an object within the request. Empty for the request itself
 */
export function noteUnread(
  given: Readonly<Record<string, unknown>>,
  read: ReadonlySet<string>,
  note: Note,
  path = '',
): void {
  for (const name of Object.keys(given))
    if (!read.has(name) && !asksNothing(given[name])) note(path === '' ? name : `${path}.${name}`, 'dropped')
}

/** Tells whether a value is that of an absent option: null, false, or empty. */
const asksNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0)
