import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { renameInUse } from '../../src/store/rename-in-use.ts'
import { notWritten } from '../../src/store/replace-file.ts'

/** Error of Windows while another program has the file open. */
const refusal = (code: string) => Object.assign(new Error(`${code}: operation not permitted, rename`), { code })

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
    await renameInUse(renaming('EPERM', 'EACCES', 'EBUSY'), 'win32')
    assert.deepEqual([readFileSync(to, 'utf8'), existsSync(from)], ['new', false])
  })

  it('fails on Windows with the error of the system where the file stays in use', async () => {
    let tries = 0
    const never = () => {
      tries++
      throw refusal('EBUSY')
    }
    await assert.rejects(renameInUse(never, 'win32'), { code: 'EBUSY' })
    assert.equal(tries, 8)
  })

  it('fails at once on other systems, and with other errors', async () => {
    await assert.rejects(renameInUse(renaming('EPERM'), 'linux'), { code: 'EPERM' })
    await assert.rejects(renameInUse(renaming('ENOSPC'), 'win32'), { code: 'ENOSPC' })
    assert.equal(readFileSync(to, 'utf8'), 'old')
  })

  it('is reported with what to do about it', () => {
    assert.match(notWritten(refusal('EBUSY'), to, 'win32').message, /close the programs that have it open/)
    assert.match(notWritten(refusal('EBUSY'), to, 'linux').message, /mount of its own/)
  })
})
