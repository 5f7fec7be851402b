import type { TestContext } from 'node:test'

/** Holds the clock that nobody sets for the length of a test. @returns what lets so many milliseconds pass on it */
export function holdTime(t: TestContext): (ms: number) => void {
  // A whole number: the sums of others are not exact, and a pause of 15 s would now and then be told as 16.
  let elapsed = Math.ceil(performance.now())
  t.mock.method(performance, 'now', () => elapsed)
  return (ms) => {
    elapsed += ms
  }
}
