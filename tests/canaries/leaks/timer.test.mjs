test('fails: a timer is not cleared', () => {
  setTimeout(() => undefined, 20_000);
});
