import { termsOf } from './extract.ts'
import { nameKind } from './json-names.ts'
import type { JsonSchema } from './json-schema.ts'
import { type Step, withinSteps } from './steps.ts'

/** A list of objects that is being made. */
export interface ObjectList {
  /** Of the list's name. */
  initial: string
  /** The identities of its earlier objects. */
  earlier: string[]
  /** What its objects are to hold, one each, where the list is a plan. */
  steps: readonly Step[]
}

/**
 * What the objects of a list are to hold: the steps, where the objects can name and refer to each other, else nothing.
 * There are no more than the list may hold, by its `maxItems` or by its description ("at most 8").
 *
 * @param list the list's schema
 * @param item that of its objects
 */
export function planFor(steps: readonly Step[], list: JsonSchema, item: JsonSchema): Step[] {
  const kinds = Object.keys(item.properties ?? {}).map(nameKind)
  if (!kinds.includes('identity') || !kinds.includes('reference')) return []
  return withinSteps(steps, Math.min(list.maxItems ?? Infinity, namedMaximum(list)))
}

/** The step that the next object of a list is to hold. */
export function stepOf(list: ObjectList | undefined): Step | undefined {
  return list?.steps[list.earlier.length]
}

/** What the next object of a list refers to: what its step comes after, else the `count` objects before it. */
export function referencesIn({ earlier, steps }: ObjectList, count: number): string[] {
  const step = steps[earlier.length]
  return step ? step.after.flatMap((place) => earlier[place] ?? []) : earlier.slice(-count)
}

/** Those of `choices` whose words a text has. */
export function namedIn(text: string, choices: readonly unknown[]): string[] {
  const words = new Set(termsOf(text))
  return choices.filter((choice): choice is string => {
    const wanted = typeof choice === 'string' ? termsOf(choice) : []
    return wanted.length > 0 && wanted.every((word) => words.has(word))
  })
}

function namedMaximum({ description }: JsonSchema): number {
  const named = typeof description === 'string' ? /\bat most (\d{1,4})\b/i.exec(description)?.[1] : undefined
  return named === undefined ? Infinity : Math.max(1, Number(named))
}
