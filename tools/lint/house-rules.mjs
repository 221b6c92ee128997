// Lint rules of this project that oxlint does not have. .oxlintrc.json loads them; tests/lint-canaries.test.ts proves that the
// rules report code that breaks them.

/**
 * The rule no-clock forbids code that reads the clock: `new Date()`, `Date()`, `Date.now` and `performance.now`. `new Date(x)`
 * and `Date.parse` only convert and are allowed.
 */
const noClock = {
  create(context) {
    const report = (node) =>
      context.report({ node, message: 'This reads the clock: take the time as an argument, or ask the Clock.' });
    return {
      NewExpression(node) {
        if (node.callee.name === 'Date' && node.arguments.length === 0) report(node);
      },
      CallExpression({ callee }) {
        if (callee.name === 'Date') report(callee);
      },
      MemberExpression(node) {
        if (node.property.name === 'now' && ['Date', 'performance'].includes(node.object.name)) report(node);
      },
    };
  },
};

export default { meta: { name: 'house' }, rules: { 'no-clock': noClock } };
