import { it } from 'node:test'
import { killWriters } from '../faults/memory-writers.ts'

it('loses no acknowledged memory over 200 kills of four processes', { timeout: 1_200_000 }, () => killWriters(200))
