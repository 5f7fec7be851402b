import type { Assistant } from './assistant.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { cursor } from './cursor.ts'
import { geminiCli } from './gemini-cli.ts'
import { opencode } from './opencode.ts'
import { vscode } from './vscode.ts'
import { windsurf } from './windsurf.ts'
import { zed } from './zed.ts'

/** Assistants known by name, in display order. */
export const ASSISTANTS: readonly Assistant[] = [claudeCode, codex, cursor, vscode, geminiCli, opencode, zed, windsurf]

/** Their names on the command line. */
export const ASSISTANT_NAMES: readonly string[] = ASSISTANTS.map(({ name }) => name)
