import { randomUUID } from 'node:crypto'
import { isObject } from '../../text/json.ts'

const WRITTEN = Symbol('written')

/** JSON that a model has written, to stand in an answer as it is: JavaScript would lose digits of its numbers. */
export const writtenJson = (text: string): object => ({ [WRITTEN]: text })

/** Encloses the number of a text until all is written. Random, so that no text of a model contains it. */
const MARK = randomUUID()
const MARKED = new RegExp(`"${MARK}(\\d+)${MARK}"`, 'g')

/** Serializes a value with {@link writtenJson} in it. */
export function withWritten(value: unknown): string {
  const texts: string[] = []
  const json = JSON.stringify(value, (_, part: unknown) => {
    const text = isObject(part) ? (part as { [WRITTEN]?: string })[WRITTEN] : undefined
    return text === undefined ? part : `${MARK}${texts.push(text) - 1}${MARK}`
  })
  return texts.length === 0 ? json : json.replace(MARKED, (marked, at: string) => texts[Number(at)] ?? marked)
}
