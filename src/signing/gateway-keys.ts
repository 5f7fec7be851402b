import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { replaceFile } from '../store/replace-file.ts'
import { parseJson } from '../text/json.ts'
import { nullIfMissing } from '../text/missing-file.ts'
import { keySigner, type Signer } from './signer.ts'
import { sshLine } from './ssh-key.ts'

/** A key that the gateway signs with, or signed with. */
export const GatewayKey = z.object({
  keyid: z.string().describe('fingerprint of the key, as `ssh-keygen -l` prints it'),
  public_key: z.string().describe('the public key as OpenSSH writes it'),
  valid_from: z.iso.datetime(),
  valid_until: z.iso.datetime().nullable().describe('when it was rotated; null for the one in use'),
})
export type GatewayKey = z.infer<typeof GatewayKey>

const KeyFile = z.object({ private_key: z.string(), keys: z.array(GatewayKey).min(1) })
type KeyFile = z.infer<typeof KeyFile>

const fileIn = (dataDir: string): string => join(dataDir, 'signing-key.json')

/**
 * Returns the gateway's signer. Creates its key, Ed25519, in the data folder when there is none.
 *
 * @throws GazewayError `config_invalid` for a damaged file
 */
export async function gatewaySigner(dataDir: string, now: Date): Promise<Signer> {
  return keySigner(createPrivateKey((await openKeys(dataDir, now)).private_key))
}

/** Lists the gateway's keys, newest first. Signatures of a rotated key stay valid for what it signed until then. */
export async function gatewayKeys(dataDir: string, now: Date): Promise<GatewayKey[]> {
  return (await openKeys(dataDir, now)).keys
}

/** Replaces the gateway's key. Running services sign with the new one at once; the old private key is deleted. */
export async function rotateGatewayKey(dataDir: string, now: Date): Promise<GatewayKey[]> {
  const { keys } = await openKeys(dataDir, now)
  const [retired, ...older] = keys as [GatewayKey]
  const created = createKey(now)
  const all = [...created.keys, { ...retired, valid_until: now.toISOString() }, ...older]
  await replaceFile(fileIn(dataDir), asText({ ...created, keys: all }))
  return all
}

/**
 * Writes a key as a line of an allowed signers file, which policies name.
 *
 * @param principals name of the gateway, and those whose machine it runs on: it is no other party for them
 */
export function observerLine(principals: string, { public_key, valid_from, valid_until }: GatewayKey): string {
  const until = valid_until === null ? '' : `,valid-before="${sshTime(atFullSecond(valid_until))}"`
  return `${principals} namespaces="${OBSERVER_NAMESPACE}",valid-after="${sshTime(valid_from)}"${until} ${public_key}`
}

/** Namespace of keys that countersign what they observed. */
export const OBSERVER_NAMESPACE = 'gazeway-observer'

/** Rounds a time up to a second: a key signs until the moment that it is rotated. */
const atFullSecond = (time: string): string => new Date(Math.ceil(Date.parse(time) / 1000) * 1000).toISOString()

/** Writes a time in the form of allowed signers files: `20261126180000Z`. */
const sshTime = (time: string): string => `${time.slice(0, 19).replace(/[-:T]/g, '')}Z`

async function openKeys(dataDir: string, now: Date): Promise<KeyFile> {
  const file = fileIn(dataDir)
  const text = await readFile(file, 'utf8').catch(nullIfMissing)
  if (text === null) return create(file, dataDir, now)
  const read = KeyFile.safeParse(parseJson(text))
  if (read.success) return read.data
  throw new GazewayError('config_invalid', `${file} is damaged; restore it, or remove it for a new key.`)
}

/** Another process may create the key at the same time: the first file stays. */
async function create(file: string, dataDir: string, now: Date): Promise<KeyFile> {
  const created = createKey(now)
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  await writeFile(temporary, asText(created), { mode: 0o600 })
  try {
    await link(temporary, file)
    return created
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return openKeys(dataDir, now)
  } finally {
    await rm(temporary, { force: true })
  }
}

function createKey(now: Date): KeyFile {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { key } = keySigner(privateKey)
  const entry = { keyid: key.fingerprint, public_key: sshLine(key), valid_from: now.toISOString(), valid_until: null }
  return { private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), keys: [entry] }
}

const asText = (keys: KeyFile): string => `${JSON.stringify(keys, null, 2)}\n`
