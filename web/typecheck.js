// Checks the page's types: everything that tsc reports, and three rules that tsc has no option for.
// `any` stands nowhere but where it is listed below; no call of the server's API takes or gives it; and parsed JSON
// gets a type where it is parsed.
import path from 'node:path';
import process from 'node:process';
import ts from 'typescript';

// Why a file may say `any`, and how often.
const ALLOWED = {};
const API = ['js/api.js', 'js/feed.js', 'js/types.d.ts'];
const DEPTH = 3; // of the fields of a parameter or an answer

const config = path.resolve(process.argv[2] ?? 'web/tsconfig.json');
const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => fail([problem]) };
const parsed = ts.getParsedCommandLineOfConfigFile(config, {}, host);
const program = ts.createProgram(parsed.fileNames, parsed.options);
const checker = program.getTypeChecker();
const problems = [];

function fail(diagnostics) {
  const shown = { getCurrentDirectory: process.cwd, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };
  process.stderr.write(ts.formatDiagnostics(diagnostics, shown));
  process.exit(1);
}

function report(node, words) {
  const file = node.getSourceFile();
  const { line, character } = file.getLineAndCharacterOfPosition(node.getStart());
  problems.push(`${path.relative(process.cwd(), file.fileName)}(${line + 1},${character + 1}): ${words}`);
}

const isAny = (type) => Boolean(type.flags & ts.TypeFlags.Any);

/** Whether there is an `any` in a type, or in the fields of it. */
function holdsAny(type, depth = DEPTH) {
  if (isAny(type)) return true;
  if (depth === 0) return false;
  if (type.isUnionOrIntersection()) return type.types.some((one) => holdsAny(one, depth));
  if (checker.isArrayType(type) || checker.isTupleType(type))
    return checker.getTypeArguments(type).some((one) => holdsAny(one, depth - 1));
  if (!(type.flags & ts.TypeFlags.Object) || type.getCallSignatures().length || isOfLibrary(type)) return false;
  return checker.getPropertiesOfType(type).some((field) => holdsAny(checker.getTypeOfSymbol(field), depth - 1));
}

/** A `Date` or a `Blob` is taken as it is. */
const isOfLibrary = (type) =>
  (type.symbol?.declarations ?? []).some((one) => program.isSourceFileDefaultLibrary(one.getSourceFile()));

const isOfApi = (declaration) => API.some((name) => declaration?.getSourceFile().fileName.endsWith(`/${name}`));

function checkApiCall(call) {
  const signature = checker.getResolvedSignature(call);
  const named = /(^|\.)(api\.\w+|feed\.call)$/.test(call.expression.getText());
  if (!named && !isOfApi(signature?.getDeclaration())) return;
  if (isAny(checker.getTypeAtLocation(call.expression))) return report(call, 'What this call of the API is, is any.');
  for (const argument of call.arguments)
    if (!ts.isFunctionLike(argument) && holdsAny(checker.getTypeAtLocation(argument)))
      report(argument, 'A parameter of the API is any.');
  const answer = checker.getAwaitedType(signature.getReturnType());
  if (answer && holdsAny(answer)) report(call, 'The answer of the API is any.');
}

const parses = (call) =>
  ts.isPropertyAccessExpression(call.expression) &&
  (call.expression.getText() === 'JSON.parse' || call.expression.name.text === 'json');

/** Parsed JSON may go into a typed name, a function that takes what it must, or a typed return. */
function checkParsed(call) {
  let node = call;
  const through = (parent) =>
    ts.isAwaitExpression(parent) ||
    ts.isParenthesizedExpression(parent) ||
    ts.isBinaryExpression(parent) ||
    ts.isConditionalExpression(parent) ||
    (ts.isPropertyAccessExpression(parent) && parent.name.text === 'catch') ||
    (ts.isCallExpression(parent) && ts.isPropertyAccessExpression(node) && node.name.text === 'catch');
  while (through(node.parent)) {
    if (ts.isParenthesizedExpression(node.parent) && ts.getJSDocType(node.parent)) return;
    node = node.parent;
  }
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return report(call, 'Parsed JSON is read without a type.');
  if (ts.isVariableDeclaration(parent) && holdsAny(checker.getTypeAtLocation(parent.name), 1))
    report(call, 'Parsed JSON has no type.');
}

const counts = {};

function visit(node) {
  if (node.kind === ts.SyntaxKind.AnyKeyword) {
    const name = path.relative(path.dirname(config), node.getSourceFile().fileName);
    counts[name] = (counts[name] ?? 0) + 1;
    if (counts[name] > (ALLOWED[name]?.times ?? 0)) report(node, 'any: use the type there is, or unknown and a check.');
  }
  if (ts.isCallExpression(node)) {
    checkApiCall(node);
    if (parses(node)) checkParsed(node);
  }
  for (const comment of node.jsDoc ?? []) visit(comment);
  ts.forEachChild(node, visit);
}

for (const file of program.getSourceFiles()) {
  const ours = !file.fileName.includes('/node_modules/') && !file.fileName.includes('/vendor/');
  if (ours && !program.isSourceFileDefaultLibrary(file)) visit(file);
}
const diagnostics = ts.getPreEmitDiagnostics(program);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (diagnostics.length) fail(diagnostics);
process.exit(problems.length ? 1 : 0);
