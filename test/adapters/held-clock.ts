import type { TestContext } from 'node:test'

/** Holds the clock that nobody sets for the length of a test. @returns what lets so many milliseconds pass on it */
export function holdTime(t: TestContext): (ms: number) => void {
  let elapsed = performance.now()
  t.mock.method(performance, 'now', () => elapsed)
  return (ms) => {
    elapsed += ms
  }
}
