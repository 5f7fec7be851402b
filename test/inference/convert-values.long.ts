// The same with all runs.
import './convert-values.test.ts'
