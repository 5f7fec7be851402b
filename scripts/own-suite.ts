import { after, afterEach, before, beforeEach, describe, it } from 'node:test'

/**
 * Makes one suite of all that a test file declares, so that its hooks run for its own cases alone where files share a process.
 *
 * @param file path of the test file: the suite's name
 * @returns `held`, functions of `node:test` that keep what is declared; and `close`, which declares it and returns the
 *   functions of `node:test` themselves, for what the suites declare when they run
 */
export function ownSuite(file: string) {
  const declared: (() => unknown)[] = []
  const hold = <Declare extends (...given: never[]) => unknown>(declare: Declare) =>
    new Proxy(declare, { apply: (_, __, given: Parameters<Declare>) => void declared.push(() => declare(...given)) })
  const held = {
    after: hold(after),
    afterEach: hold(afterEach),
    before: hold(before),
    beforeEach: hold(beforeEach),
    describe: hold(describe),
    it: hold(it),
  }
  function close() {
    describe(file, () => {
      for (const declare of declared) declare()
    })
    return { after, afterEach, before, beforeEach, describe, it }
  }
  return { held, close }
}
