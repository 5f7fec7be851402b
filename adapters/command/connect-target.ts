import { BlockList, isIP } from 'node:net'
import { CODING_AGENT_NAMES } from '../../src/coding-agents/agent-names.ts'
import type { CodingAgent } from '../../src/coding-agents/coding-agent.ts'
import { CODING_AGENTS } from '../../src/coding-agents/coding-agents.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import { GazewayError } from '../../src/errors.ts'
import { plain } from '../../src/text/single-line.ts'
import type { ConnectKeyFlags } from './connect-key.ts'

/** Flags of `gazeway connect` that say which gateway, and which key. */
export interface TargetFlags extends ConnectKeyFlags {
  url?: string
  key?: string
}

/** A gateway to connect to. */
export interface Target {
  /** Base URL without `/v1`. */
  url: string
  /** Key that was given. Null when one is to be made in the store. */
  key: string | null
}

/** Value of `--key` that stands for the variable. */
const FROM_ENV = 'env'
const VARIABLE = 'GAZEWAY_KEY'
const KEY_FLAGS = ['budget', 'session', 'models', 'name'] as const

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Finds an agent. @throws GazewayError `config_invalid` with the list of agents */
export function agentNamed(name: string): CodingAgent {
  const agent = CODING_AGENTS.find((one) => one.name === name)
  if (agent !== undefined) return agent
  const message = `unknown agent ${plain(name)}; must be one of ${CODING_AGENT_NAMES.join(', ')}.`
  throw new GazewayError('config_invalid', message, { param: 'AGENT' })
}

/**
 * Reads which gateway to connect to. A gateway on another machine needs a key of its own.
 *
 * @throws GazewayError `config_invalid` with the flag in `param`; the message leaves values out
 */
export function targetOf({ config }: Pick<LoadedConfig, 'config'>, flags: TargetFlags): Target {
  const url = flags.url === undefined ? localUrl(config.http) : checkedUrl(flags.url)
  const isLocal = isLoopback(new URL(url).hostname)
  const key = givenKey(flags.key ?? (isLocal ? undefined : FROM_ENV))
  const [unused] = KEY_FLAGS.filter((name) => flags[name] !== undefined)
  if (key !== null && unused !== undefined)
    throw refused(`--${unused}`, 'is for a key that connect makes, and not for one that is given.')
  return { url, key }
}

function givenKey(flag: string | undefined): string | null {
  if (flag === undefined) return null
  const key = flag === FROM_ENV ? process.env[VARIABLE]?.trim() : flag
  if (key === undefined || key === '')
    throw refused('--key', `names ${VARIABLE}, which is not set. A gateway on another machine needs a key of it.`)
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw refused('--key', `invalid value; must be a key, or ${FROM_ENV} for that of ${VARIABLE}.`)
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === ''
  if (!isPlain)
    throw refused('--url', 'invalid value; must be the address of a gateway, such as https://gateway.example.org.')
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** Address of the gateway that the configuration starts. One on all addresses is reached on this machine. */
function localUrl({ host, port }: LoadedConfig['config']['http']): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}`
}

function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  const version = isIP(host)
  if (version === 0) return host === 'localhost'
  return loopback.check(host, version === 4 ? 'ipv4' : 'ipv6')
}

const refused = (param: string, fault: string): GazewayError =>
  new GazewayError('config_invalid', `${param}${fault.startsWith('invalid') ? ':' : ''} ${fault}`, { param })
