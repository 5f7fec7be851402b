import { termsOf } from './extract.ts'
import type { JsonSchema } from './json-schema.ts'
import { type Step, withinSteps } from './steps.ts'

/** Properties by their name. An object has an identity, and refers to earlier objects of its list. */
const NAMES = {
  reference: /^(depends_?on|dependenc(y|ies)|requires|blocked_?by|after|parents?|previous)(_?ids?)?$/i,
  identity: /^(id|key|slug)$|_id$|[a-z]Id$/,
  keyword: /(^|_)(tags?|labels?|keywords?|capabilit(y|ies)|skills?|topics?|categor(y|ies))$/i,
  heading: /(^|_)(title|name|headline|heading|subject)$/i,
}

/** Kind of the strings in a property, by its name. */
export type NameKind = keyof typeof NAMES | 'text'

/**
 * Classifies a property by its name.
 *
 * @example nameKind('depends_on') // 'reference'
 */
export function nameKind(name: string): NameKind {
  return (Object.keys(NAMES) as (keyof typeof NAMES)[]).find((kind) => NAMES[kind].test(name)) ?? 'text'
}

/** A list of objects being generated. */
export interface ObjectList {
  /** Initial letter of the list's name. */
  initial: string
  /** Number of the earlier objects. Their identities are the initial and a number, from 1. */
  earlier: number
  /** Content of the objects, one step each, when the list is a plan. */
  steps: readonly Step[]
}

/**
 * Selects the steps that the objects of a list represent. Empty unless the objects can name and refer to each other.
 * Limited by the list's `maxItems` or its description ("at most 8"), since many providers reject `maxItems`.
 *
 * @param list schema of the list
 * @param item schema of its objects
 */
export function planFor(steps: readonly Step[], list: JsonSchema, item: JsonSchema): Step[] {
  const kinds = Object.keys(item.properties ?? {}).map(nameKind)
  if (!kinds.includes('identity') || !kinds.includes('reference')) return []
  const described = /\bat most (\d{1,4})\b/i.exec(String(list.description))?.[1]
  return withinSteps(steps, Math.max(1, Math.min(list.maxItems ?? Infinity, Number(described ?? Infinity))))
}

/** Step that the next object of a list represents. */
export const stepOf = (list: ObjectList | undefined): Step | undefined => list?.steps[list.earlier]

/** Identity of the object at an index of a list: `t1` for the first one of `tasks`. */
export const identityAt = ({ initial }: ObjectList, at: number): string => `${initial}${at + 1}`

/** References of the next object of a list: the predecessors of its step, otherwise the object before it. */
export function referencesIn(list: ObjectList): string[] {
  const before = list.earlier > 0 ? [list.earlier - 1] : []
  return (stepOf(list)?.after ?? before).map((at) => identityAt(list, at))
}

/** The `choices` whose words occur in a text. */
export function namedIn(text: string, choices: readonly unknown[]): string[] {
  const words = new Set(termsOf(text))
  return choices.filter((choice): choice is string => {
    const wanted = typeof choice === 'string' ? termsOf(choice) : []
    return wanted.length > 0 && wanted.every((word) => words.has(word))
  })
}
