document.getElementById("submit").submit();
