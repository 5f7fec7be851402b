import { basename } from 'node:path'
import { codex as assistant } from '../assistants/codex.ts'
import { literal } from '../assistants/toml-format.ts'
import { GazewayError } from '../errors.ts'
import type { CodingAgent, Endpoint } from './coding-agent.ts'
import { keyCommand } from './key-command.ts'
import { setting } from './setting.ts'

/** Variable of the key in a run that writes nothing. */
const VARIABLE = 'GAZEWAY_CONNECT_KEY'

/** Provider of a run. Codex merges its command line with its files, so that it needs a name of its own. */
const ONCE = 'gazeway_once'

/** Its entry for a provider. */
const provider = ({ url }: Endpoint, key: Record<string, unknown>) => ({
  name: 'Gazeway',
  base_url: `${url}/v1`,
  wire_api: 'responses',
  ...key,
})

export const codex: CodingAgent = {
  name: 'codex',
  label: 'Codex',
  ownModels: /^(gpt-|codex|o\d)/,
  notInProject: 'Codex ignores providers in the configuration of a project',
  overridden: [],
  files(endpoint, machine) {
    const [path] = assistant.userFiles(machine)
    const { model, keyFile } = endpoint
    // It asks a gateway for the limits of its models only where its key comes from a command.
    const entry = provider(endpoint, { auth: keyCommand(keyFile, machine.platform) })
    const settings = [
      ...(model ? [setting('model', model.id)] : []),
      setting('model_provider', 'gazeway'),
      setting('model_providers.gazeway', entry),
    ]
    return [{ path, format: 'toml', settings }]
  },
  run(endpoint, [program = '', ...words]) {
    if (!/^codex(\.\w+)?$/.test(basename(program)))
      throw new GazewayError(
        'config_invalid',
        'Codex takes its provider from its command line: COMMAND must be codex.',
        {
          param: '--',
        },
      )
    const { model } = endpoint
    const settings = {
      ...(model && { model: model.id, ...(model.context && { model_context_window: model.context }) }),
      model_provider: ONCE,
      [`model_providers.${ONCE}`]: provider(endpoint, { env_key: VARIABLE }),
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${literal(value)}`])
    return { command: [program, ...flags, ...words], env: { [VARIABLE]: endpoint.key } }
  },
  source: 'https://developers.openai.com/codex/config-advanced',
  tried: '0.171.0',
}
