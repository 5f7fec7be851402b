import { termsOf } from './extract.ts'
import { nameKind } from './json-names.ts'
import type { JsonSchema } from './json-schema.ts'
import { type Step, withinSteps } from './steps.ts'

/** A list of objects being generated. */
export interface ObjectList {
  /** Initial letter of the list's name. */
  initial: string
  /** Identities of the earlier objects. */
  earlier: string[]
  /** Content of the objects, one step each, when the list is a plan. */
  steps: readonly Step[]
}

/**
 * Selects the steps that the objects of a list represent. Empty unless the objects can name and refer to each other.
 * Limited by the list's `maxItems` or its description ("at most 8").
 *
 * @param list schema of the list
 * @param item schema of its objects
 */
export function planFor(steps: readonly Step[], list: JsonSchema, item: JsonSchema): Step[] {
  const kinds = Object.keys(item.properties ?? {}).map(nameKind)
  if (!kinds.includes('identity') || !kinds.includes('reference')) return []
  return withinSteps(steps, Math.min(list.maxItems ?? Infinity, namedMaximum(list)))
}

/** Step that the next object of a list represents. */
export function stepOf(list: ObjectList | undefined): Step | undefined {
  return list?.steps[list.earlier.length]
}

/** References of the next object of a list: the predecessors of its step, otherwise the last `count` objects. */
export function referencesIn({ earlier, steps }: ObjectList, count: number): string[] {
  const step = steps[earlier.length]
  return step ? step.after.flatMap((place) => earlier[place] ?? []) : earlier.slice(-count)
}

/** The `choices` whose words occur in a text. */
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
