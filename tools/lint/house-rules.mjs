// Rules of the house that oxlint has not built in. Loaded by .oxlintrc.json; shown red by tests/canaries.

/** `new Date(x)` and `Date.parse` are arithmetic; without an argument, or as `now`, a Date is a clock. */
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
