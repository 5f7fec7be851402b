/** Properties that name their object: `id`, `key`, `slug`, `task_id`. */
const IDENTITY = /^(id|key|uid|slug)$|_id$|[a-z]Id$/

/** Properties that refer to other objects of the same list: `depends_on`, `blockedBy`, `parent_id`. */
const REFERENCE =
  /^(depends?_?on|depend(s|encies|ency)|requires|prerequisites?|prereqs?|blocked_?by|after|follows|predecessors?|parents?|previous)(_?ids?)?$/i

/** Properties that hold a few words rather than a sentence. */
const HEADING = /(^|_)(title|name|label|headline|heading|subject)$/i

/** Properties that hold single words. */
const KEYWORD = /(^|_)(tags?|labels?|keywords?|capabilit(y|ies)|skills?|topics?|categor(y|ies)|kinds?|types?)$/i

/** Kind of the strings in a property, judged by its name. */
export type NameKind = 'identity' | 'reference' | 'heading' | 'keyword' | 'text'

/**
 * Classifies a property by its name:
 * - `identity`: unique in its list (`t1`, `t2` in `tasks`).
 * - `reference`: the identity of an earlier object, so references never form a cycle.
 * - `heading`: a few words.
 * - `keyword`: one word.
 *
 * @example nameKind('depends_on') // 'reference'
 */
export function nameKind(name: string): NameKind {
  if (REFERENCE.test(name)) return 'reference'
  if (IDENTITY.test(name)) return 'identity'
  if (KEYWORD.test(name)) return 'keyword'
  return HEADING.test(name) ? 'heading' : 'text'
}

/** Identity of a generated object: its `id`, or its first property named like an identity. */
export function identityOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const named = Object.entries(value).filter(
    ([name, part]) => nameKind(name) === 'identity' && typeof part === 'string',
  )
  const [, identity] = named.find(([name]) => name === 'id') ?? named[0] ?? []
  return identity
}
