import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Reason to skip tests that need OpenSSH; false where it is installed. */
export const WITHOUT_OPENSSH = spawnSync('ssh-keygen', ['-?']).error ? 'OpenSSH is not installed' : false

/** A folder with keys of `ssh-keygen`, removed after the test. */
export function createKeyFolder(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-signing-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const keygen = (...args: string[]) => execFileSync('ssh-keygen', args, { cwd: folder, stdio: 'pipe' }).toString()

  /** Creates a key and returns the path of its file. */
  function createKey(type: string, passphrase = '', bits: string[] = []): string {
    const file = join(folder, `${type}${bits.at(-1) ?? ''}${passphrase}`)
    keygen('-q', '-t', type, ...bits, '-N', passphrase, '-C', 'test', '-f', file)
    return file
  }

  const publicKey = (file: string): string => readFileSync(`${file}.pub`, 'utf8').trim().split(' ', 2).join(' ')

  /** Signs a message with `ssh-keygen -Y sign`, and returns the armoured signature. */
  function sign(file: string, namespace: string, message: Buffer): string {
    writeFileSync(join(folder, 'message'), message)
    keygen('-q', '-Y', 'sign', '-f', file, '-n', namespace, 'message')
    const signature = readFileSync(join(folder, 'message.sig'), 'utf8')
    rmSync(join(folder, 'message.sig'))
    return signature
  }

  return { folder, keygen, createKey, publicKey, sign }
}
