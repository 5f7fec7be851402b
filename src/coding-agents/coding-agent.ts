import type { Machine, Scope } from '../assistants/assistant.ts'
import type { CodingAgentName } from './agent-names.ts'
import type { Setting } from './setting.ts'
import type { FormatName } from './setting-format.ts'

/** A model of the gateway, with its limits in tokens where they are known. */
export interface AgentModel {
  id: string
  context?: number | undefined
  output?: number | undefined
}

/** The gateway as an agent reaches it. */
export interface Endpoint {
  /** Base URL without `/v1`. */
  url: string
  key: string
  /** File that holds the key, for agents that read it from there. */
  keyFile: string
  /** Model for the work. Null leaves the agent its own. */
  model: AgentModel | null
  /** Model for side calls such as titles. Null leaves the agent its own. */
  smallModel: AgentModel | null
}

/** Settings for one file of an agent. */
export interface AgentFile {
  path: string
  format: FormatName
  settings: readonly Setting[]
  /** True for settings that hold the key itself, which no other user may read. */
  holdsKey?: true
}

/** Words and variables that have one run of an agent use the gateway. */
export interface AgentRun {
  command: readonly string[]
  env: Record<string, string>
}

/**
 * A coding agent whose models can come from the gateway. To add one, write a file with such a record, and add its
 * name in `agent-names.ts` and the record in `coding-agents.ts`.
 */
export interface CodingAgent {
  /** Its name on the command line. */
  name: CodingAgentName
  /** Display name. */
  label: string
  /** Ids of the models that it asks for by itself. Null when it asks for none. */
  ownModels: RegExp | null
  /** Reason why it cannot be connected for one project alone. Null when it can. */
  notInProject: string | null
  /** Environment variables that take precedence over its files. */
  overridden: readonly string[]
  /** Settings to write into its files. */
  files(endpoint: Endpoint, machine: Machine, scope: Scope): AgentFile[]
  /**
   * A command with what it needs, so that nothing is written.
   *
   * @throws GazewayError `config_invalid` for a command that cannot be given it
   */
  run(endpoint: Endpoint, command: readonly string[]): AgentRun
  /** The agent's page about other providers. */
  source: string
  /** The version that was tried. */
  tried: string
}
