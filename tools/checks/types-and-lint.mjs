/**
 * Types and lint over one TypeScript program: the rules that ask for types take up what the compiler has found out. Both
 * are what `npm run typecheck` and `npm run lint` do, each of which would parse and check everything for itself.
 */
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Answers the program of the configuration, and what is wrong with it as text; '' when nothing is. */
export function typesOf(configuration) {
  const problems = [];
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => void problems.push(problem) };
  const parsed = ts.getParsedCommandLineOfConfigFile(configuration, undefined, host);
  if (!parsed) return { program: null, report: reportOf(problems) };
  const { options, fileNames: rootNames, errors } = parsed;
  const builder = ts.createIncrementalProgram({
    rootNames,
    options,
    configFileParsingDiagnostics: errors,
    host: ts.createIncrementalCompilerHost(options),
  });
  problems.push(...builder.getConfigFileParsingDiagnostics(), ...builder.getOptionsDiagnostics());
  problems.push(...builder.getGlobalDiagnostics(), ...builder.getSyntacticDiagnostics());
  problems.push(...builder.getSemanticDiagnostics());
  // Remembers for the next time which files were found to be right.
  problems.push(...builder.emit().diagnostics);
  return { program: builder.getProgram(), report: reportOf(ts.sortAndDeduplicateDiagnostics(problems)) };
}

/** Answers the problems that lint sees below the folder, as text; warnings count. */
export async function lintOf(folder, program) {
  const parserOptions = { project: null, programs: [program] };
  const overrideConfig = { files: ['**/*.ts'], languageOptions: { parserOptions } };
  const eslint = new ESLint({ cwd: folder, overrideConfig });
  const formatter = await eslint.loadFormatter('stylish');
  return formatter.format(await eslint.lintFiles(['.']));
}

function reportOf(problems) {
  return ts.formatDiagnostics(problems, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => ROOT,
    getNewLine: () => '\n',
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { program, report } = typesOf(`${ROOT}tsconfig.base.json`);
  const told = program ? report + (await lintOf(ROOT, program)) : report;
  process.stdout.write(told);
  if (told) process.exitCode = 1;
}
