import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deed } from '../agents/script.ts'

/** Address of a gateway, and a key of it. */
export interface Door {
  url: string
  key: string
}

/** Prompt of a user. */
export interface Prompt {
  text: string
  /** Base64 of a PNG that it shows. */
  picture?: string
  /** Leaves as soon as the first words of an answer without calls arrive. */
  leaves?: boolean
}

/** Conversation that the user of an SDK keeps. */
export interface Conversation {
  /** @returns the last words of the model */
  ask(prompt: Prompt): Promise<string>
  /** Has the conversation summarised, and goes on from the summary alone. */
  compact(): Promise<void>
}

/** SDK over one API of the gateway. */
export type Sdk = (door: Door, model: string, tools: Tools) => Conversation

/** Tools that every SDK is given. */
export interface Tools {
  read(file: string): string
  /** Base64 of a picture. */
  look(file: string): string
}

export const MOST_STEPS = 4
export const INSTRUCTIONS = 'Work in the folder.'
export const ASKS_SUMMARY = 'Write a detailed summary of the conversation.'
export const READ = 'Reads a file.'
export const LOOK = 'Shows a picture.'

export const toolsIn = (folder: string): Tools => ({
  read: (file) => readFileSync(join(folder, file), 'utf8'),
  look: (file) => readFileSync(join(folder, file), 'base64'),
})

/** Name and input of the call for a deed. */
export const callFor = ({ does, file }: Deed) => ({ name: does, input: { file } })
