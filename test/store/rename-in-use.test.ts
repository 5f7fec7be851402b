import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  constants,
  type PerformanceEntry,
  PerformanceObserver,
  type PerformanceObserverEntryList,
} from 'node:perf_hooks'
import { after, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openStore } from '../../src/store/open-store.ts'
import { renameInUse } from '../../src/store/rename-in-use.ts'
import { notWritten } from '../../src/store/replace-file.ts'

/** Error of Windows while another program has the file open. */
const refusal = (code: string) => Object.assign(new Error(`${code}: operation not permitted, rename`), { code })

/** Files that this process has open. */
const openFiles = () =>
  readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)]
    } catch {
      // The one that lists the folder is closed by now.
      return []
    }
  })

/** Opens a store and closes it again. */
async function useOnce(file: string, meanwhile: () => void): Promise<void> {
  const store = await openStore(`sqlite:${file}`)
  await store.db.selectFrom('memories').selectAll().execute()
  meanwhile()
  await store.close()
}

describe('a rename of a file that is in use', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-in-use-'))
  after(() => rmSync(folder, { recursive: true }))
  const [from, to] = [join(folder, 'draft'), join(folder, 'config.json')]

  /** Renames the draft as soon as it has been refused with each of the codes. */
  function renaming(...codes: string[]) {
    writeFileSync(from, 'new')
    writeFileSync(to, 'old')
    return () => {
      const code = codes.shift()
      if (code !== undefined) throw refusal(code)
      renameSync(from, to)
    }
  }

  it('succeeds on Windows once the other program has closed it', async () => {
    await renameInUse(renaming('EPERM', 'EACCES', 'EBUSY'), { platform: 'win32' })
    assert.deepEqual([readFileSync(to, 'utf8'), existsSync(from)], ['new', false])
  })

  it('succeeds on Windows for a store that this process has closed', {
    skip: !existsSync('/proc/self/fd'),
  }, async () => {
    const [store, moved] = [join(folder, 'gazeway.db'), join(folder, 'moved.db')]
    const isOpen = () => openFiles().includes(store)
    await useOnce(store, () => assert.ok(isOpen()))
    const of = { platform: 'win32', isClosedStore: true } as const
    await renameInUse(() => {
      // Linux would rename it all the same.
      if (isOpen()) throw refusal('EBUSY')
      renameSync(store, moved)
    }, of)
    assert.ok(existsSync(moved))
  })

  it('collects garbage once for a store that was closed, and never otherwise, as a service would stand still', async () => {
    const collected = async (isClosedStore: boolean) => {
      let forced = 0
      const count = (list: PerformanceObserverEntryList) => {
        for (const entry of list.getEntries())
          if (
            ((entry as PerformanceEntry & { detail: { flags: number } }).detail.flags &
              constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) >
            0
          )
            forced++
      }
      const observer = new PerformanceObserver(count)
      observer.observe({ entryTypes: ['gc'] })
      await renameInUse(renaming('EPERM', 'EACCES', 'EBUSY'), { platform: 'win32', isClosedStore })
      await setImmediate()
      observer.disconnect()
      return forced
    }
    assert.deepEqual([await collected(false), await collected(true)], [0, 1])
  })

  it('fails on Windows with the error of the system where the file stays in use', async () => {
    let tries = 0
    const never = () => {
      tries++
      throw refusal('EBUSY')
    }
    await assert.rejects(renameInUse(never, { platform: 'win32' }), { code: 'EBUSY' })
    assert.equal(tries, 8)
  })

  it('fails at once on other systems, and with other errors', async () => {
    await assert.rejects(renameInUse(renaming('EPERM'), { platform: 'linux' }), { code: 'EPERM' })
    await assert.rejects(renameInUse(renaming('ENOSPC'), { platform: 'win32' }), { code: 'ENOSPC' })
    assert.equal(readFileSync(to, 'utf8'), 'old')
  })

  it('is reported with what to do about it', () => {
    assert.match(notWritten(refusal('EBUSY'), to, 'win32').message, /close the programs that have it open/)
    assert.match(notWritten(refusal('EBUSY'), to, 'linux').message, /mount of its own/)
  })
})
