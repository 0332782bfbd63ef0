console.log("a page");
