import { readFileSync, statSync } from 'node:fs'
import { getProperty } from 'dot-prop'
import { GazewayError } from '../errors.ts'
import { isMissing } from '../text/missing-file.ts'
import { explain } from '../wire/validation.ts'
import { checkConfig } from './check-config.ts'
import { CONFIG_KEYS } from './config-keys.ts'
import { Config, type ConfigDocument } from './config-schema.ts'
import { variableOf } from './environment.ts'
import { nearestKey } from './nearest-key.ts'
import { routingFault } from './routing-fault.ts'

/**
 * Reads the text of a configuration file. Null when it does not exist.
 *
 * @throws GazewayError `config_invalid` when it exists but cannot be read
 */
export function readText(file: string): string | null {
  try {
    const found = statSync(file)
    // Reading a pipe would wait for its writer, and a device may have no end.
    if (!found.isFile() && !found.isDirectory())
      throw new GazewayError('config_invalid', `${file}: a pipe, socket or device; must be a readable JSON file.`)
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (cause instanceof GazewayError) throw cause
    if (isMissing(cause)) return null
    const { code } = cause as NodeJS.ErrnoException
    throw new GazewayError('config_invalid', `${file}: cannot be read (${code}); must be a readable JSON file.`, {
      cause,
    })
  }
}

/**
 * Parses and validates a configuration file, without defaults. Never modifies a rejected file.
 *
 * @throws GazewayError `config_invalid`: `FILE: FIELD: problem; must be …`, or the line of a JSON fault
 */
export function parseDocument(text: string, file: string): ConfigDocument {
  const value = parseJson(text.replace(/^\uFEFF/, ''), file)
  const checked = checkConfig(value)
  if (checked.success) {
    refuseKept(checked.data, file)
    const fault = routingFault(checked.data)
    if (fault) throw new GazewayError('config_invalid', `${file}: ${fault.message}`, { param: fault.param })
    return value as ConfigDocument
  }
  const { param, message } = explain(checked.error, Config, value, { name: 'configuration', nearest: nearestKey })
  throw new GazewayError('config_invalid', `${file}: ${message}`, param === null ? {} : { param })
}

/** Rejects a wallet key in a file, because copies and backups of the file would contain it. */
function refuseKept(config: Config, file: string): void {
  const kept = CONFIG_KEYS.find(({ key, environmentOnly }) => environmentOnly && getProperty(config, key) !== null)
  if (!kept) return
  const message = `${file}: ${kept.key}: not kept in a file; set ${variableOf(kept.key)} in the environment instead.`
  throw new GazewayError('config_invalid', message, { param: kept.key })
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Neither the parser's message nor the error as a cause: both quote the text, secrets included.
    const before = text.slice(0, faultPosition(text)).split('\n')
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
    throw new GazewayError(
      'config_invalid',
      `${file}: ${place}: not valid JSON; must be a JSON object without comments.`,
    )
  }
}

/** Position at which JSON becomes invalid: the length of the longest prefix that could be continued. */
function faultPosition(text: string): number {
  let sound = 0
  let broken = text.length + 1
  while (broken - sound > 1) {
    const middle = Math.floor((sound + broken) / 2)
    if (couldContinue(text.slice(0, middle))) sound = middle
    else broken = middle
  }
  return sound
}

function couldContinue(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const { message } = error as SyntaxError
    const position = /at position (\d+)/.exec(message)?.[1]
    return /Unexpected end|Unterminated/.test(message) || Number(position) >= text.length
  }
}
