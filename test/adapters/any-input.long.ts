// The same with all runs.
import './any-input.test.ts'
