/** A property that names the object it is in: `id`, `key`, `slug`, `task_id`. */
const IDENTITY = /^(id|key|uid|slug)$|_id$|[a-z]Id$/

/** A property that points at other objects of the same list: `depends_on`, `blockedBy`, `parent_id`. */
const REFERENCE =
  /^(depends?_?on|depend(s|encies|ency)|requires|prerequisites?|prereqs?|blocked_?by|after|follows|predecessors?|parents?|previous)(_?ids?)?$/i

/** A property that holds a few words rather than a sentence. */
const HEADING = /(^|_)(title|name|label|headline|heading|subject)$/i

/** A property that holds single words. */
const KEYWORD = /(^|_)(tags?|labels?|keywords?|capabilit(y|ies)|skills?|topics?|categor(y|ies)|kinds?|types?)$/i

/** What a property's name says about the strings in it. */
export type NameKind = 'identity' | 'reference' | 'heading' | 'keyword' | 'text'

/**
 * What the name of a property says about its strings. An identity is unique in its list (`t1`, `t2` in `tasks`); a
 * reference takes the identity of an earlier object, so that references never form a cycle; a heading is a few words;
 * a keyword is one.
 */
export function nameKind(name: string): NameKind {
  if (REFERENCE.test(name)) return 'reference'
  if (IDENTITY.test(name)) return 'identity'
  if (KEYWORD.test(name)) return 'keyword'
  return HEADING.test(name) ? 'heading' : 'text'
}

/** The identity that a made object has: its `id`, else its first property that is named like one. */
export function identityOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const named = Object.entries(value).filter(
    ([name, part]) => nameKind(name) === 'identity' && typeof part === 'string',
  )
  const [, identity] = named.find(([name]) => name === 'id') ?? named[0] ?? []
  return identity
}
