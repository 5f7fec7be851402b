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

/**
 * Header that names changes to the client. Empty when there are none.
 *
 * @example changedHeader([{ field: 'top_k', what: 'dropped' }]) // { 'x-gazeway-changed': 'top_k=dropped' }
 */
export function changedHeader(changes: readonly Change[]): Record<string, string> {
  if (changes.length === 0) return {}
  const named = changes.slice(0, NAMED).map(({ field, what }) => `${field.replace(/[^\w.-]/g, '_')}=${what}`)
  return { [HEADER]: (changes.length > NAMED ? [...named, 'more'] : named).join(', ') }
}

/**
 * Notes the fields of a request that a conversion leaves behind. Fields that ask for nothing are not mentioned.
 *
 * @param read fields that the conversion reads
 */
export function noteUnread(given: Readonly<Record<string, unknown>>, read: ReadonlySet<string>, note: Note): void {
  for (const name of Object.keys(given)) if (!read.has(name) && !asksNothing(given[name])) note(name, 'dropped')
}

/** Tells whether a value is that of an absent option: null, false, or empty. */
const asksNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0)
